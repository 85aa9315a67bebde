/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - see run.h.
 */
#include "packet/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static const char *const stat_names[] = {
#define ROW(kind, name, help) #name,
	MR_STATS(ROW)
#undef ROW
};

enum kind { ANSWER, PASS, MARK };

static const enum kind stat_kinds[] = {
#define ROW(kind, name, help) kind,
	MR_STATS(ROW)
#undef ROW
};

const char *run_stat_name(enum mr_stat stat)
{
	return (unsigned int)stat < MR_STATS_COUNT ? stat_names[stat] : "?";
}

int run_frame(int prog_fd, const void *in, size_t len, void *out, size_t *ret_len)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = in, .data_size_in = (__u32)len, .data_out = out,
		    .data_size_out = FRAME_MAX, .repeat = 1);
	int err = bpf_prog_test_run_opts(prog_fd, &o);

	if (err)
		return err;
	*ret_len = o.data_size_out;
	return (int)o.retval;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list va)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, va) : 0;
}

int run_open(struct fill *f)
{
	static const struct fill_size size = { 256, 256, 256, 64, 64 };

	return run_open_sized(f, &size);
}

int run_open_sized(struct fill *f, const struct fill_size *size)
{
	const char *what;
	int err;

	libbpf_set_print(quiet);
	if (geteuid()) {
		printf("1..1\nok 1 - packets through the program # SKIP loading a program needs root\n");
		return 1;
	}
	err = fill_open(f, size, &what);
	if (err == -EPERM || err == -ENOSYS) {
		printf("1..1\nok 1 - packets through the program # SKIP %s: %s\n", what, strerror(-err));
		return 1;
	}
	if (err) {
		printf("1..1\nnot ok 1 - the program loads: %s: %s\n", what, strerror(-err));
		return 1;
	}
	return 0;
}

/* Compare two readings of the counters with what the row expects; prints and returns a fault. */
static const char *check_counts(const struct row *r, const struct mr_stats *a, const struct mr_stats *b, int dry,
				int grown)
{
	static char text[128];

	for (int i = 0; i < MR_STATS_COUNT; i++) {
		__u64 expect = !dry && (i == MR_STAT_packets || i == (int)r->stat || (r->mark && i == (int)r->mark));

		if (!dry && i == MR_STAT_grown_tail && r->mark != MR_STAT_grown_head)
			expect = grown;
		if (b->count[i] - a->count[i] == expect)
			continue;
		snprintf(text, sizeof(text), "%s%s counted %llu times, not %llu", dry ? "dry: " : "", stat_names[i],
			 (unsigned long long)(b->count[i] - a->count[i]), (unsigned long long)expect);
		return text;
	}
	return NULL;
}

static const char *check_frame(const struct row *r, const struct frame *q, int action, const __u8 *out, size_t len)
{
	static char text[1024], line[768];
	int answered = stat_kinds[r->stat] == ANSWER;

	if (action < 0)
		return "the run itself failed";
	if (action != (answered ? XDP_TX : XDP_PASS))
		return answered ? "it is not answered" : "it does not pass";
	if (!answered)
		return len == q->len && !memcmp(out, q->b, len) ? NULL : "a frame that passes was changed";
	frame_tell(q, out, len, line, sizeof(line));
	if (r->says && !strcmp(line, r->says))
		return NULL;
	snprintf(text, sizeof(text), "it says \"%s\", not \"%s\"", line, r->says ? r->says : "?");
	return text;
}

/* The two runs of a row; NULL when all is right. */
static const char *run_row(struct fill *f, const struct row *r, const struct frame *q)
{
	static __u8 out[FRAME_MAX], dry[FRAME_MAX];
	struct mr_stats before, between, after;
	static char text[128];
	size_t len = 0, dry_len = 0;
	const char *fault;
	struct mr_why why;
	int action, dry_action;

	if (fill_stats(f, &before))
		return "the counters cannot be read";
	dry_action = run_frame(f->why_fd, q->b, q->len, dry, &dry_len);
	why = *f->why;
	fill_stats(f, &between);
	action = run_frame(f->fd, q->b, q->len, out, &len);
	fill_stats(f, &after);
	fault = check_frame(r, q, action, out, len);
	if (!fault)
		fault = check_counts(r, &between, &after, 0, action == XDP_TX && len > q->len);
	if (!fault)
		fault = check_counts(r, &before, &between, 1, 0);
	if (!fault && (dry_action != action || dry_len != len || memcmp(dry, out, len)))
		fault = "the dry program does not say the same";
	if (!fault && why.stat != r->stat) {
		snprintf(text, sizeof(text), "why says %s, not %s", run_stat_name(why.stat), run_stat_name(r->stat));
		fault = text;
	}
	if (!fault && r->also) {
		struct outcome o = { q, out, len, &why };

		fault = r->also(f, &o);
	}
	return fault;
}

int run_rows(void (*world)(struct fill *f), const struct row *rows, size_t count)
{
	static struct frame q;
	const char *fault;
	struct fill f;
	int bad = 0;

	if (run_open(&f))
		return 0;
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		fill_reset(&f);
		world(&f);
		if (rows[i].world)
			rows[i].world(&f);
		frame_ask(&q, &rows[i].ask);
		if (rows[i].bend)
			rows[i].bend(&q);
		fault = run_row(&f, &rows[i], &q);
		if (fault)
			bad++;
		printf("%s %zu - %s\n", fault ? "not ok" : "ok", i + 1, rows[i].name);
		if (fault)
			printf("# %s\n", fault);
	}
	fill_close(&f);
	return bad != 0;
}
