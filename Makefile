# SPDX-License-Identifier: BSD-2-Clause
#
# Makefile - builds, tests, installs and shows Millrace.
#
#   make             build/millraced, build/millctl and the tools
#   sudo make demo   install what is missing, build, show the main job
#   sudo make check  install what is missing, build, run every test
#   make help        the other targets
#
# V=1 prints commands.  SAN=address,undefined or SAN=thread builds with these
# sanitizers into a folder of its own.  Rooms, tests and tools are found by
# wildcard: a new file needs no edit here.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

VERSION := 0.1.0
SAN     ?=
comma   := ,
B       := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
CC      := gcc
CLANG   := clang
PREFIX  ?= /usr
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
# bpftool and ethtool are where Debian's users do not look, nor root after a plain su.
export PATH := $(PATH):/usr/sbin:/sbin
# One word for the shell, whatever is in it.
quoted   = '$(subst ','\'',$(1))'
say      = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

include tools/deps.mk

PC       = $(shell pkg-config --$(1) $(PKGS) 2>/dev/null)
PKGS    := libbpf libxdp libuv ldns yaml-0.1 jansson libmicrohttpd libcrypto libssl libnghttp2 libcap libsystemd libcurl libidn2 zlib sqlite3 libpcre2-8 lmdb
OPT     ?= -O2
ARCH    := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
TRIPLE  := $(shell $(CC) -print-multiarch 2>/dev/null)

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wwrite-strings -Wno-unused-parameter -Werror
INCS     = -iquote . -iquote userspace -iquote tests -iquote $(B)/gen
CFLAGS  ?= $(OPT) -g
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -fno-omit-frame-pointer -fno-strict-aliasing \
           -D_GNU_SOURCE -DMR_VERSION='"$(VERSION)"' $(INCS) $(call PC,cflags) \
           $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined) \
           $(if $(findstring thread,$(SAN)),-Wno-tsan)
ALL_LDFLAGS = $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -Wl,--as-needed
LIBS     = $(call PC,libs) -lpthread
BPF_CFLAGS = -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -Wno-sign-compare \
           -iquote . -idirafter /usr/include/$(TRIPLE) -D__TARGET_ARCH_$(ARCH)

# ---- what there is -------------------------------------------------------

ROOM_SRC  := $(wildcard userspace/*/*.c) $(wildcard maps/*.c)
ROOM_OBJ  := $(ROOM_SRC:%.c=$(B)/obj/%.o)
LIB       := $(B)/libmillrace.a
BPF_SRC   := $(wildcard bpf/*.bpf.c tools/*.bpf.c bench/*.bpf.c tests/*/*.bpf.c)
BPF_OBJ   := $(patsubst %.bpf.c,$(B)/bpf/%.bpf.o,$(BPF_SRC))
SKEL      := $(patsubst bpf/%.bpf.c,$(B)/gen/%.skel.h,$(wildcard bpf/*.bpf.c)) \
             $(patsubst %.bpf.c,$(B)/gen/%.skel.h,$(wildcard tools/*.bpf.c bench/*.bpf.c tests/*/*.bpf.c))
GEN       := $(SKEL)
# A tool is tools/<tool>.c with its helpers tools/<tool>_*.c.
TOOL_SRC  := $(wildcard tools/*.c)
TOOL_NAME := $(filter-out %.bpf,$(TOOL_SRC:tools/%.c=%))
TOOL_PART := $(foreach t,$(TOOL_NAME),$(filter $(t)_%,$(TOOL_NAME)))
TOOLS     := $(patsubst %,$(B)/%,$(filter-out $(TOOL_PART),$(TOOL_NAME)))
BENCH     := $(patsubst bench/%.c,$(B)/bench/%,$(filter-out %.bpf.c,$(wildcard bench/*.c)))
TEST_SRC  := $(filter-out %.bpf.c,$(wildcard tests/unit/*/test_*.c tests/packet/test_*.c tests/scenario/test_*.c tests/fault/test_*.c))
TESTS     := $(TEST_SRC:%.c=$(B)/%)
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ      := $(FUZZ_SRC:%.c=$(B)/%)

# Made in passing, but kept: a second make has nothing to do.
.SECONDARY: $(GEN)

.PHONY: all tests fuzz
all: $(if $(wildcard userspace/main.c),$(B)/millraced) $(TOOLS) $(BPF_OBJ)
tests: all $(TESTS)
fuzz: $(FUZZ)

# ---- rules ---------------------------------------------------------------

$(B)/bpf/%.bpf.o: %.bpf.c Makefile
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

# The skeleton of bpf/x.bpf.c is "x.skel.h"; of tools/x.bpf.c "tools/x.skel.h".
$(B)/gen/%.skel.h: $(B)/bpf/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@)bpftool gen skeleton $< name $(notdir $*)_bpf > $@
$(B)/gen/%.skel.h: $(B)/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@)bpftool gen skeleton $< name $(notdir $*)_bpf > $@

$(B)/obj/%.o: %.c Makefile | $(GEN)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(ROOM_OBJ)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(B)/millraced: $(B)/obj/userspace/main.o $(LIB)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)

.SECONDEXPANSION:
parts_of = $(patsubst %,$(B)/obj/tools/%.o,$(filter $(1)_%,$(TOOL_PART)))
$(TOOLS): $(B)/%: $(B)/obj/tools/%.o $$(call parts_of,%) $(LIB)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)

$(BENCH): $(B)/bench/%: $(B)/obj/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -o $@ $(LIBS)

# tests/fault/alloc.c stands before these.
FAULT_WRAP := malloc calloc realloc strdup asprintf open_memstream fdopen \
              pcre2_compile_8 pcre2_jit_compile_8 pcre2_match_data_create_8 pcre2_match_context_create_8
$(filter $(B)/tests/fault/%,$(TESTS)): ALL_LDFLAGS += $(FAULT_WRAP:%=-Wl,--wrap=%)

# Helpers of a test folder (tests/<folder>/*.c that are not test_*.c) are linked into each of its tests.
helpers_of = $(patsubst %.c,$(B)/obj/%.o,$(filter-out %.bpf.c $(dir $(1))test_%,$(wildcard $(dir $(1))*.c)))
$(B)/tests/packet/test_differential: $(B)/obj/tests/scenario/world.o
$(filter $(B)/tests/unit/upstream/%,$(TESTS)): $(B)/obj/tests/unit/net/certs.o
$(B)/tests/fault/test_lists: $(patsubst %,$(B)/obj/tests/unit/lists/%.o,names rig server)
$(TESTS): $(B)/%: $(B)/obj/%.o $$(call helpers_of,%.c) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(filter %.o,$^) $(LIB) -o $@ -lcmocka $(LIBS)

# Fuzz targets compile the rooms they need with clang's libFuzzer, from a "fuzz-sources:" line in their header.
$(FUZZ): $(B)/%: %.c Makefile | $(GEN)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)$(CLANG) -std=gnu11 -O1 -g -D_GNU_SOURCE -DMR_VERSION='"$(VERSION)"' -fno-strict-aliasing -fsanitize=fuzzer,address,undefined -D__SANITIZE_ADDRESS__ \
		$(INCS) $(call PC,cflags) -MMD -MP -MF $@.d $< $$(sed -n 's/^ \* fuzz-sources: *//p' $<) -o $@ $(LIBS)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ---- other targets -------------------------------------------------------

.PHONY: deps deps-build check check-kernel demo bench bench-quick layers compile_commands.json install uninstall clean help opts
deps:
	@sh tools/deps.sh $(DEPS) $(DEPS_PEERS)

# Without the servers that the tests ask.
deps-build:
	@sh tools/deps.sh $(DEPS)

check: deps
	@$(MAKE) --no-print-directory all tests
	@bash tests/run

# The tests that depend on the kernel, under others: KERNELS="6.1 6.12 ./vmlinuz".
KERNELS ?= 6.1
check-kernel:
	@sh tools/deps.sh $(DEPS) $(DEPS_KERNEL)
	@$(MAKE) --no-print-directory all tests
	@bash vagrant/check $(KERNELS)

demo: deps-build
	@$(MAKE) --no-print-directory all
	@bash tools/demo

bench-quick: deps-build
	@$(MAKE) --no-print-directory all $(BENCH)
	@B=$(B) bash bench/quick

bench: $(BENCH)

layers:
	@sh tools/layers.sh

compile_commands.json:
	@{ printf '['; sep=''; for f in $(ROOM_SRC) $(wildcard userspace/main.c) $(filter-out %.bpf.c,$(TOOL_SRC)) $(TEST_SRC); do \
		printf '%s\n{"directory":"%s","file":"%s","command":"%s"}' "$$sep" '$(CURDIR)' "$$f" \
			$(call quoted,$(CC) $(subst ",\",$(ALL_CFLAGS)) -c )"$$f"; sep=','; done; printf '\n]\n'; } > $@

install: all
	@sh tools/install.sh $(B) '$(DESTDIR)' '$(PREFIX)'

uninstall:
	@sh tools/install.sh -u $(B) '$(DESTDIR)' '$(PREFIX)'

opts:
	@printf '%s\n' 'CC=$(CC)' $(call quoted,CFLAGS=$(ALL_CFLAGS)) 'BPF=$(CLANG) $(BPF_CFLAGS)' 'LIBS=$(LIBS)'

clean:
	rm -rf build compile_commands.json

help:
	@sed -n 's/^#   make/  make/p; s/^#   sudo/  sudo/p' Makefile
	@printf '  make %-12s %s\n' \
		deps 'install the Debian packages that are missing (root)' \
		tests 'build the tests; "tests/run SUITE..." runs some of them' \
		fuzz 'build the fuzz targets, build/tests/fuzz/*' \
		check-kernel 'run the packet tests under other kernels in qemu (root; KERNELS=)' \
		layers 'print includes that depart from tools/layers.txt' \
		bench-quick 'measure the packet path, in three minutes (root)' \
		install 'DESTDIR= and PREFIX=/usr; "make uninstall" takes away what it put' \
		opts 'print compilers and options' \
		clean 'remove build/' \
		compile_commands.json 'for clangd and the like'
