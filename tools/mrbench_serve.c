/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench_serve.c - "mrbench serve": a subject on an interface, native XDP.
 *
 * Fills the tables, attaches, and obeys lines on stdin, each answered by one
 * line of JSON: "reflect" and "fastpath" put that program behind the one link
 * (which is updated, never detached), "stats" tells the counters, "quit" or the
 * end of stdin detaches and ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include "tools/mrbench.h"
#include "tools/mrbench.skel.h"

struct serve {
	struct mrbench_bpf *skel;
	struct bench_tables *tables;
	int link;
};

static int mac_of(const char *interface, uint8_t ret[6])
{
	unsigned m[6] = { 0 };
	char path[64];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", interface);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fscanf(f, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]);
	fclose(f);
	for (int i = 0; i < 6; i++)
		ret[i] = (uint8_t)m[i];
	return n == 6 ? 0 : -EINVAL;
}

static int attach(struct serve *s, const char *interface, struct err_at *reterr)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	uint8_t mac[6];
	int err;

	err = mac_of(interface, mac);
	if (err)
		return err_why(reterr, err, "interface %s: %s", interface, strerror(-err));
	s->skel = mrbench_bpf__open();
	if (!s->skel)
		return -errno;
	bpf_program__set_autoload(s->skel->progs.bench_find_hash, false);
	bpf_program__set_autoload(s->skel->progs.bench_find_own, false);
	err = mrbench_bpf__load(s->skel);
	if (err)
		return err_why(reterr, err, "the reflector does not load: %s", strerror(-err));
	err = 0;
	s->link = bpf_link_create(bpf_program__fd(s->skel->progs.bench_reflect), (int)if_nametoindex(interface), BPF_XDP, &opts);
	if (s->link < 0)
		return err_why(reterr, s->link, "interface %s takes no program in native mode: %s", interface, strerror(-s->link));
	return err;
}

static int print_stats(const struct serve *s)
{
	static const char *const names[] = {
#define ROW(kind, name, help) #name,
		MR_STATS(ROW)
#undef ROW
	};
	struct mr_stats stats;
	int err = bench_tables_stats(s->tables, &stats);

	if (err)
		return err;
	printf("{");
	for (int i = 0; i < MR_STATS_COUNT; i++)
		if (stats.count[i] || !i)
			printf("%s\"%s\": %llu", i ? ", " : "", names[i], (unsigned long long)stats.count[i]);
	printf("}\n");
	return 0;
}

static int obey(struct serve *s, const char *line)
{
	int program = -1;

	if (!strcmp(line, "reflect"))
		program = bpf_program__fd(s->skel->progs.bench_reflect);
	else if (!strcmp(line, "fastpath"))
		program = bench_tables_program(s->tables);
	else if (!strcmp(line, "stats"))
		return print_stats(s);
	if (program < 0) {
		printf("{\"error\": \"expected reflect, fastpath, stats or quit\"}\n");
		return 0;
	}
	if (bpf_link_update(s->link, program, NULL))
		return -errno;
	printf("{\"subject\": \"%s\"}\n", line);
	return 0;
}

int bench_serve(const struct bench_options *o, const char *interface, struct err_at *reterr)
{
	struct serve s = { .link = -1 };
	char line[64];
	uint8_t mac[6];
	int err;

	err = attach(&s, interface, reterr);
	if (!err)
		err = mac_of(interface, mac);
	if (!err)
		err = bench_tables_new(&o->sizes, if_nametoindex(interface), mac, &s.tables, reterr);
	if (!err) {
		printf("{\"subject\": \"reflect\"}\n");
		fflush(stdout);
	}
	while (!err && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "quit"))
			break;
		err = obey(&s, line);
		fflush(stdout);
	}
	if (s.link >= 0)
		close(s.link);
	mrbench_bpf__destroy(s.skel);
	bench_tables_free(s.tables);
	return err;
}
