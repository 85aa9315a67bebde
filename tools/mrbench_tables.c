/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_tables.c - the shipped program with its tables filled.
 *
 * By the daemon's own rooms: policy compiles the filter, kern publishes it,
 * attaches the program and takes the answers.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/clock.h"
#include "dns/answer.h"
#include "kern/kern.h"
#include "policy/filter_build.h"
#include "policy/judge.h"
#include "policy/secret.h"
#include "tools/mrbench.h"

#define PIN_ROOT "/sys/fs/bpf/mrbench"
#define TYPE_A   1
#define NXDOMAIN 3

struct bench_tables {
	struct mr_secret secret;
	struct kern *kern;
	struct filter *filter;		/* while it is published */
	int program;
	int link;
	uint32_t *held[BENCH_SPACES];	/* numbers of the names that have an answer */
	uint32_t held_count[BENCH_SPACES];
	uint64_t filter_bytes, answer_bytes;
	uint32_t generation;		/* of the filter in force */
	uint32_t insns;
};

/* ---- filter ---- */

static int add_names(struct filter_builder *b, enum bench_space space, uint32_t count)
{
	struct bench_name name;
	int err = 0;

	for (uint32_t i = 0; i < count && err >= 0; i++) {
		bench_name(space, i, &name);
		err = filter_builder_put(b, name.wire, name.len, RULE_SUBTREE, 0, FILTER_BLOCK);
	}
	return err < 0 ? err : 0;
}

static int compile(struct bench_tables *t, const struct bench_sizes *s, const char *path, struct err_at *reterr)
{
	struct filter_builder *b = filter_builder_new(&t->secret);
	uint64_t asked;
	int err = b ? 0 : -ENOMEM;

	if (!err)
		err = add_names(b, BENCH_BLOCKED, s->names);
	if (!err)
		err = add_names(b, BENCH_LONG, s->hot);
	if (!err)
		err = filter_write(b, 0, path, &asked, reterr);
	if (!err)
		err = filter_open(path, &t->secret, &t->filter, reterr);
	filter_builder_free(b);
	return err;
}

/* What the sets mean to one group, which uses the one list. */
static struct mr_verdict *make_verdicts(const struct filter *f)
{
	_Atomic uint8_t uses = 1;
	const struct judge_group group = { &uses, 1 };
	struct filter_members *members = filter_members_copy(f);
	struct rules_builder *b = rules_builder_new();
	struct rules *none = NULL;
	struct mr_verdict *v = NULL;

	if (members && b && !rules_builder_make(b, &none))
		v = judge_verdicts(&(struct judge){ .members = members, .rules = none, .group = &group, .groups = 1,
						    .rewrites = UINT32_MAX, .safe_search = UINT32_MAX });
	rules_free(none);
	rules_builder_free(b);
	filter_members_free(members);
	return v;
}

static int fill_filter(struct bench_tables *t, const struct bench_sizes *s, struct err_at *reterr)
{
	char folder[] = "/tmp/mrbench-XXXXXX", path[64];
	struct mr_verdict *verdicts = NULL;
	struct filter_view view;
	bool mapped = false;
	int err;

	if (!mkdtemp(folder))
		return err_why(reterr, -errno, "%s: %s", folder, strerror(errno));
	snprintf(path, sizeof(path), "%s/filter", folder);
	err = compile(t, s, path, reterr);
	if (err)
		goto out;
	verdicts = make_verdicts(t->filter);
	err = verdicts ? kern_filter_publish(t->kern, t->filter, verdicts, 1, &view, &mapped, reterr) : -ENOMEM;
	t->generation = view.generation;
	if (!err && !mapped)
		err = err_why(reterr, -EOPNOTSUPP, "the filter did not go into the kernel's tables");
	if (!err)
		t->filter_bytes = sizeof(struct mr_filter_bucket) * ((uint64_t)filter_unit(t->filter)->bucket_mask + 1);
out:
	free(verdicts);
	unlink(path);
	rmdir(folder);
	return err;
}

/* ---- answers ---- */

static int put_answer(struct bench_tables *t, enum bench_space space, uint32_t number, uint64_t now)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 1, 0x51, 0x80, 0, 4, 192, 0, 2, 1 };
	static const uint8_t soa[] = { 0, 0, 6, 0, 1, 0, 0, 0x0e, 0x10, 0, 22, 0, 0, 0, 0, 0, 1, 0, 0, 0x0e, 0x10,
				       0, 0, 2, 0x58, 0, 1, 0x51, 0x80, 0, 0, 0x0e, 0x10 };
	bool negative = space == BENCH_NEGATIVE;
	struct dns_key key = { .qtype = TYPE_A };
	struct dns_answer *a = NULL;
	struct bench_name name;
	int err;

	bench_name(space, number, &name);
	memcpy(key.name, name.wire, name.len);
	key.name_len = name.len;
	err = dns_answer_from_body(&key, negative ? NXDOMAIN : 0, negative ? soa : record,
				   negative ? sizeof(soa) : sizeof(record), !negative, negative, now, &a);
	if (err)
		return err;
	kern_answer_put(t->kern, a, false, t->generation, true, now);
	dns_answer_unref(a);
	return 0;
}

static bool holds(struct bench_tables *t, enum bench_space space, uint32_t number, uint64_t now)
{
	struct dns_key key = { .qtype = TYPE_A };
	struct bench_name name;

	bench_name(space, number, &name);
	memcpy(key.name, name.wire, name.len);
	key.name_len = name.len;
	return kern_answer_holds(t->kern, &key, now);
}

/* Put the answers of a space. */
static int put_all(struct bench_tables *t, enum bench_space space, uint32_t count, uint64_t now)
{
	int err = 0;

	t->held[space] = malloc(sizeof(**t->held) * count);
	if (!t->held[space])
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !err; i++)
		err = put_answer(t, space, i, now);
	return err;
}

/* Note which of them the table holds in the end: a full bucket makes it evict. */
static int note_held(struct bench_tables *t, enum bench_space space, uint32_t count, uint64_t now, struct err_at *reterr)
{
	for (uint32_t i = 0; i < count; i++)
		if (holds(t, space, i, now))
			t->held[space][t->held_count[space]++] = i;
	if (t->held_count[space] > count / 2)
		return 0;
	return err_why(reterr, -ENOSPC, "the table holds only %u of %u answers", t->held_count[space], count);
}

static int fill_answers(struct bench_tables *t, const struct bench_sizes *s, struct err_at *reterr)
{
	uint64_t now = clock_coarse_ns();
	int err = put_all(t, BENCH_CACHED, s->answers, now);

	if (!err)
		err = put_all(t, BENCH_NEGATIVE, s->hot, now);
	if (!err)
		err = note_held(t, BENCH_CACHED, s->answers, now, reterr);
	if (!err)
		err = note_held(t, BENCH_NEGATIVE, s->hot, now, reterr);
	return err;
}

/* ---- whole ---- */

/* What kern keeps to itself, by its numbers: the program to run and the link to swap it on. */
static int find_program(struct bench_tables *t, struct err_at *reterr)
{
	struct kern_memory mem[16];
	struct kern_status st;
	unsigned rows;

	kern_status(t->kern, &st);
	if (!st.on || !st.interfaces || st.iface[0].mode != KERN_NATIVE)
		return err_why(reterr, -EOPNOTSUPP, "no native XDP: %s",
			       st.interfaces ? st.iface[0].reason : st.reason);
	t->program = bpf_prog_get_fd_by_id(st.iface[0].prog_id);
	t->link = bpf_link_get_fd_by_id(st.iface[0].link_id);
	if (t->program < 0 || t->link < 0)
		return err_why(reterr, -errno, "the attached program cannot be opened: %s", strerror(errno));
	t->insns = st.verified_insns;
	rows = kern_memory(t->kern, mem);
	for (unsigned i = 0; i < rows; i++)
		if (!strcmp(mem[i].name, "mr_answers"))
			t->answer_bytes = mem[i].bytes;
	return 0;
}

int bench_tables_new(const struct bench_sizes *sizes, const char *interface, struct bench_tables **ret,
		     struct err_at *reterr)
{
	struct bench_tables *t = calloc(1, sizeof(*t));
	struct addr listen[2] = { { .port = 53 }, { .port = 53 } };
	struct kern_opts o = {
		.interface_count = 1, .mode = KERN_NATIVE, .required = true, .pin_root = PIN_ROOT, .listen = listen,
		.listens = 2,
		/* One in eight more than is asked for: pages are cut into sizes. */
		.answers = (sizes->answers + sizes->hot) / 8 * 9 + 64, .filter_entries = sizes->names + sizes->hot,
		.recursion = true,
	};
	int err = -ENOMEM;

	if (!t)
		goto out;
	t->program = t->link = -1;
	snprintf(o.interfaces[0], IF_NAMESIZE, "%s", interface);
	listen[0].ip[10] = listen[0].ip[11] = 0xff;
	memcpy(listen[0].ip + 12, bench_server_ip, 4);
	memcpy(listen[1].ip, bench_server_ip6, 16);
	secret_make(&t->secret);
	err = kern_open(&o, &t->secret, &t->kern, reterr);
	if (err)
		goto out;
	kern_enable(t->kern, true);
	kern_heartbeat(t->kern, clock_coarse_ns());
	err = fill_filter(t, sizes, reterr);
	if (!err)
		err = fill_answers(t, sizes, reterr);
	if (!err)
		err = find_program(t, reterr);
	if (err)
		goto out;
	*ret = t;
	t = NULL;
out:
	bench_tables_free(t);
	return err;
}

void bench_tables_free(struct bench_tables *t)
{
	if (!t)
		return;
	if (t->program >= 0)
		close(t->program);
	if (t->link >= 0)
		close(t->link);
	if (t->kern)
		kern_close(t->kern, true);
	filter_free(t->filter);
	for (int i = 0; i < BENCH_SPACES; i++)
		free(t->held[i]);
	free(t);
}

int bench_tables_program(const struct bench_tables *t)
{
	return t->program;
}

int bench_tables_attach(const struct bench_tables *t, int program)
{
	return bpf_link_update(t->link, program, NULL) ? -errno : 0;
}

uint32_t bench_tables_count(const struct bench_tables *t, enum bench_space space, uint32_t otherwise)
{
	return t->held[space] ? t->held_count[space] : otherwise;
}

uint32_t bench_tables_number(const struct bench_tables *t, enum bench_space space, uint32_t i)
{
	return t->held[space] ? t->held[space][i] : i;
}

uint64_t bench_tables_filter_bytes(const struct bench_tables *t)
{
	return t->filter_bytes;
}

uint64_t bench_tables_answer_bytes(const struct bench_tables *t)
{
	return t->answer_bytes;
}

uint32_t bench_tables_insns(const struct bench_tables *t)
{
	return t->insns;
}

void bench_tables_stats(const struct bench_tables *t, struct mr_stats *ret)
{
	kern_stats(t->kern, ret);
}
