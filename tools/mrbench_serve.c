/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_serve.c - "mrbench serve": a subject on an interface, native XDP.
 *
 * Fills the tables, attaches, and obeys lines on stdin, each answered by one
 * line of JSON: "reflect" and "fastpath" put that program behind the one link
 * (which is updated, never detached), "blocked FILE" and "cached FILE" write
 * queries for kxdpgun, "stats" tells the counters, "quit" or the end of stdin
 * detaches and ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "tools/mrbench.h"
#include "tools/mrbench.skel.h"

struct serve {
	struct mrbench_bpf *skel;
	struct bench_tables *tables;
	uint32_t hot;
};

static int load_reflector(struct serve *s, struct err_at *reterr)
{
	int err;

	s->skel = mrbench_bpf__open();
	if (!s->skel)
		return -errno;
	bpf_program__set_autoload(s->skel->progs.bench_find_hash, false);
	bpf_program__set_autoload(s->skel->progs.bench_find_own, false);
	err = mrbench_bpf__load(s->skel);
	return err ? err_why(reterr, err, "the reflector does not load: %s", strerror(-err)) : 0;
}

static int print_stats(const struct serve *s)
{
	static const char *const names[] = {
#define ROW(kind, name, help) #name,
		MR_STATS(ROW)
#undef ROW
	};
	struct mr_stats stats;

	bench_tables_stats(s->tables, &stats);
	printf("{");
	for (int i = 0; i < MR_STATS_COUNT; i++)
		if (stats.count[i] || !i)
			printf("%s\"%s\": %llu", i ? ", " : "", names[i], (unsigned long long)stats.count[i]);
	printf("}\n");
	return 0;
}

/* Write the queries of a hot set as kxdpgun reads them: type A, with EDNS. */
static int write_queries(const struct serve *s, enum bench_space space, const char *path)
{
	uint32_t count = bench_tables_count(s->tables, space, s->hot);
	struct bench_name name;
	char text[64];
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	for (uint32_t i = 0; i < count && i < s->hot; i++) {
		bench_name(space, bench_tables_number(s->tables, space, i), &name);
		bench_name_text(&name, text);
		fprintf(f, "%s A E\n", text);
	}
	printf("{\"queries\": \"%s\"}\n", path);
	return fclose(f) ? -errno : 0;
}

static int obey(struct serve *s, const char *line)
{
	int program = -1, err;

	if (!strcmp(line, "reflect"))
		program = bpf_program__fd(s->skel->progs.bench_reflect);
	else if (!strcmp(line, "fastpath"))
		program = bench_tables_program(s->tables);
	else if (!strcmp(line, "stats"))
		return print_stats(s);
	else if (!strncmp(line, "blocked ", 8))
		return write_queries(s, BENCH_BLOCKED, line + 8);
	else if (!strncmp(line, "cached ", 7))
		return write_queries(s, BENCH_CACHED, line + 7);
	if (program < 0) {
		printf("{\"error\": \"expected reflect, fastpath, blocked FILE, cached FILE, stats or quit\"}\n");
		return 0;
	}
	err = bench_tables_attach(s->tables, program);
	if (!err)
		printf("{\"subject\": \"%s\"}\n", line);
	return err;
}

int bench_serve(const struct bench_options *o, const char *interface, struct err_at *reterr)
{
	struct serve s = { .hot = o->sizes.hot };
	char line[512];
	int err;

	err = load_reflector(&s, reterr);
	if (!err)
		err = bench_tables_new(&o->sizes, interface, &s.tables, reterr);
	if (!err) {
		printf("{\"subject\": \"fastpath\"}\n");
		fflush(stdout);
	}
	while (!err && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "quit"))
			break;
		err = obey(&s, line);
		fflush(stdout);
	}
	mrbench_bpf__destroy(s.skel);
	bench_tables_free(s.tables);
	return err;
}
