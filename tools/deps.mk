# SPDX-License-Identifier: BSD-2-Clause
# deps.mk - every Debian package that building, testing and showing Millrace needs; read by the Makefile.
DEPS := gcc libc6-dev pkg-config clang llvm libclang-rt-14-dev bpftool \
        libbpf-dev libxdp-dev libuv1-dev libldns-dev libyaml-dev libjansson-dev libmicrohttpd-dev \
        libssl-dev libnghttp2-dev libsqlite3-dev libcap-dev libsystemd-dev libcurl4-openssl-dev libidn2-dev zlib1g-dev libpcre2-dev liblmdb-dev libcmocka-dev \
        iproute2 ethtool procps util-linux bind9-dnsutils knot-dnsutils dnsperf curl openssl \
        python3 python3-pytest python3-dnspython tzdata
# Other people's servers, which tests/net asks; started by the tests only, never as services of the machine, and not installed for the demo.
DEPS_PEERS := unbound knot-resolver dnsdist bind9 dnsmasq-base pdns-recursor
# Besides these, what make check-kernel needs to run other kernels in a virtual machine.
DEPS_KERNEL := qemu-system-x86 busybox-static
