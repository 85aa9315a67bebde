/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_hash.c - the program and the host hash the same names alike.
 *
 * Each name goes through the program as a query; what it left in its scratch
 * is held against what the host makes of the same text.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "bpf/scratch.h"
#include "fastpath.skel.h"
#include "packet/run.h"

static const char *const names[] = {
	".", "com", "a", "example.com", "www.example.com", "WWW.Example.COM", "1234567.com", "12345678.com", "123456.7.8",
	"123456789012345.x", "1234567890123456.x", "12345678901234567.x", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
	"\\000.\\255\\128x.example", "@[`{.AZaz", "a\\046b.example",
	"012345678901234567890123456789012345678901234567890123456789012.x",
	"01234567890123456789012345678901234567890123456789012345678901.y",
	"012345678901234567890123456789012345678901234567890123456789012."
	"012345678901234567890123456789012345678901234567890123456789012."
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz0."
	"0123456789012345678901234567890123456789012345678901234567890",
};

/* The scratch of this CPU. */
static int scratch_read(const struct fill *f, struct mr_scratch *ret)
{
	size_t size = (sizeof(*ret) + 7) & ~7UL, cpus = (size_t)libbpf_num_possible_cpus();
	__u8 *all = calloc(cpus, size);
	__u32 zero = 0;
	int err = -1;

	if (all && !bpf_map_lookup_elem(bpf_map__fd(f->skel->maps.mr_scratch), &zero, all)) {
		memcpy(ret, all + (size_t)sched_getcpu() * size, sizeof(*ret));
		err = 0;
	}
	free(all);
	return err;
}

static const char *check(const struct fill *f, const char *text)
{
	static struct mr_scratch s;
	static struct frame q;
	struct mr_name n;
	__u8 out[FRAME_MAX];
	size_t len;

	if (fill_name(f, text, &n))
		return "the host does not take the name";
	frame_ask(&q, &(struct ask){ .name = text });
	run_frame(f->fd, q.b, q.len, out, &len);
	if (scratch_read(f, &s))
		return "the scratch cannot be read";
	if (s.name.len != n.len || s.name.labels != n.labels)
		return "length or labels differ";
	if (memcmp(s.name.word, n.word, (n.len + 7U) / 8 * sizeof(*n.word)))
		return "the lower-case words differ";
	if (memcmp(s.name.left, n.left, (n.labels + 1U) * sizeof(*n.left)))
		return "the offsets of the labels differ";
	return memcmp(s.name.hash, n.hash, (n.labels + 1) * sizeof(*n.hash)) ? "the hashes differ" : NULL;
}

int main(void)
{
	size_t count = sizeof(names) / sizeof(*names);
	struct fill f;
	const char *fault;
	cpu_set_t one;
	int bad = 0;

	if (run_open(&f))
		return 0;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	fill_service(&f, "192.0.2.53");
	/* parents are hashed only at depths where there are entries */
	f.conf->unit[f.conf->active].depths = ~0U >> (31 - MR_LABELS_MAX);
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		fault = check(&f, names[i]);
		bad += fault != NULL;
		printf("%s %zu - kernel and host hash \"%.40s\" alike\n", fault ? "not ok" : "ok", i + 1, names[i]);
		if (fault)
			printf("# %s\n", fault);
	}
	fill_close(&f);
	return bad != 0;
}
