/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_torn.c - a writer at full speed never makes the program send a mixture.
 *
 * One thread rewrites an answer on one CPU, another puts queries through the
 * program on a second one.  The bodies are made so that no sum can tell a mixture:
 * each version holds pairs of an address and its complement.  So what protects
 * them is the stamps alone, and a writer that leaves the stamps out must be
 * seen to fail, or this test could not.
 *
 * Pauses and meanings of sets change in place as well, word by word: each
 * answer is then one of two, and whole.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include "packet/run.h"

#define PAIRS   8
#define RECORD  16			/* octets of an A record behind a compressed owner */

static struct fill F;
static struct frame Q;

struct trial {
	const char *name;
	int stamps;			/* the writer keeps to the protocol */
	int two_names;			/* every other version belongs to another name */
	int must_fail;			/* the control: mixtures must be seen */
	double seconds;
};

static const struct trial trials[] = {
	{ "control: without stamps mixtures are sent, and seen", 0, 0, 1, 2 },
	{ "control: without stamps another name's answer is sent, and seen", 0, 1, 1, 2 },
	{ "with stamps no mixture is ever sent", 1, 0, 0, 3 },
	{ "with stamps another name's answer is never sent", 1, 1, 0, 3 },
};

struct writer {
	const struct trial *trial;
	struct mr_answer *slot;
	atomic_int stop;
	unsigned long versions;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* The body of a version: PAIRS times an address and its complement; the top bit tells the name. */
static void body_make(__u8 *body, __u32 version, int other)
{
	__u32 a = (version & 0x7fffffff) | (other ? 0x80000000 : 0), v;

	for (int i = 0; i < 2 * PAIRS; i++, body += RECORD) {
		memcpy(body, "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4", 12);
		v = i & 1 ? ~a : a;
		memcpy(body + 12, &v, 4);
	}
}

static void copy_words(__u8 *to, const __u8 *from, size_t words)
{
	volatile mr_word *t = (volatile mr_word *)to;

	for (size_t i = 0; i < words; i++)
		t[i] = mr_load64(from + 8 * i);
}

/* As the daemon's writer does: stamp, fence, contents, fence, stamp.  The control leaves the stamps as they are. */
static void write_one(const struct writer *w, __u32 version)
{
	static const __u8 names[2][16] = { "\0\0\0\0\0\1x\7example", "\0\0\0\0\0\1y\7example" };
	int other = w->trial->two_names && version & 1;
	__u8 body[2 * PAIRS * RECORD];

	body_make(body, version, other);
	if (w->trial->stamps)
		MR_WRITE(w->slot->stamp_first, version);
	atomic_thread_fence(memory_order_seq_cst);
	copy_words((__u8 *)w->slot + MR_ANSWER_NAME, names[other], 2);
	copy_words((__u8 *)w->slot + mr_answer_body(11), body, sizeof(body) / 8);
	atomic_thread_fence(memory_order_seq_cst);
	if (w->trial->stamps)
		MR_WRITE(w->slot->stamp_last, version);
}

static void *writer_run(void *arg)
{
	struct writer *w = arg;

	pin(1);
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		w->versions++;
		write_one(w, (__u32)w->versions & 0x3fffffff);
		/* a breath, in which a reader finds something whole */
		for (int i = 0; i < 200; i++)
			__asm__ volatile("");
	}
	return NULL;
}

/* Whether an answer is one version, and of the name that was asked. */
static int answer_whole(const __u8 *out, size_t len)
{
	const __u8 *body = out + Q.question;
	__u32 a, v;

	if (len != Q.question + 2 * PAIRS * RECORD)
		return 0;
	memcpy(&a, body + 12, 4);
	if (a & 0x80000000)
		return 0;
	for (int i = 0; i < 2 * PAIRS; i++, body += RECORD) {
		memcpy(&v, body + 12, 4);
		if (v != (i & 1 ? ~a : a))
			return 0;
	}
	return 1;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int trial_run(const struct trial *t, int number)
{
	unsigned long answers = 0, passes = 0, bad = 0;
	struct writer w = { .trial = t };
	__u8 out[FRAME_MAX];
	pthread_t thread;
	double end;
	size_t len;
	int ok;

	w.slot = fill_slot(&F, MR_PAGE_UNITS);
	if (pthread_create(&thread, NULL, writer_run, &w)) {
		printf("not ok %d - %s\n# no thread\n", number, t->name);
		return 1;
	}
	for (end = seconds() + t->seconds; seconds() < end;)
		for (int i = 0; i < 1000; i++) {
			if (run_frame(F.fd, Q.b, Q.len, out, &len) != XDP_TX)
				passes++;
			else if (answers++, !answer_whole(out, len))
				bad++;
		}
	atomic_store(&w.stop, 1);
	pthread_join(thread, NULL);
	ok = t->must_fail ? bad > 0 : !bad && answers > 1000;
	printf("%s %d - %s\n", ok ? "ok" : "not ok", number, t->name);
	printf("# figure: %lu versions written, %lu answers, %lu of them bad, %lu passed\n", w.versions, answers, bad,
	       passes);
	return !ok;
}

/* ---- pauses and meanings ---- */

/* One of two lists blocks, or the group is paused. */
static void *flipper_run(void *arg)
{
	struct writer *w = arg;
	static const struct mr_verdict means[2] = { { MR_BLOCK, 0, 1, 0 }, { MR_IMPORTANT_BLOCK, 0, 2, 0 } };
	__u32 cell = mr_verdict_cell(&F.conf->unit[0], 0, 1);

	pin(1);
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		w->versions++;
		MR_WRITE(*(mr_word *)&F.verdicts[cell], *(const mr_word *)&means[w->versions & 1]);
		MR_WRITE(F.conf->group[0].paused, w->versions >> 1 & 1);
		for (int i = 0; i < 200; i++)
			__asm__ volatile("");
	}
	return NULL;
}

static int flips_run(int number)
{
	static const char name[] = "pauses and meanings of sets change under load, and each answer is whole";
	static const char *const lines[] = { "NOERROR rd ra; an A 300 192.0.2.80; opt 1232",
		"NOERROR rd ra; an A 10 0.0.0.0; opt 1232 ede 15 \"first\"",
		"NOERROR rd ra; an A 10 0.0.0.0; opt 1232 ede 15 \"the second list\"" };
	static const struct fill_rr rr[] = { { 1, 300, "\xc0\0\2\x50", 4, 0 }, { 0 } };
	unsigned long seen[4] = { 0 };
	struct writer w = { .trial = NULL };
	__u8 out[FRAME_MAX];
	pthread_t thread;
	char line[512];
	double end;
	size_t len, i;
	int ok;

	fill_reset(&F);
	fill_service(&F, "192.0.2.53");
	fill_rule(&F, "x.example", 1, 0, FILL_FIRST);
	fill_source(&F, 1, "first");
	fill_source(&F, 2, "the second list");
	fill_answer(&F, &(struct fill_answer){ .name = "x.example", .qtype = 1, .flags = MR_ANSWER_LOCAL,
					  .dns_flags = 0x80, .rr = rr });
	frame_ask(&Q, &(struct ask){ .name = "x.example", .edns = 1 });
	if (pthread_create(&thread, NULL, flipper_run, &w)) {
		printf("not ok %d - %s\n# no thread\n", number, name);
		return 1;
	}
	for (end = seconds() + 2; seconds() < end;) {
		if (run_frame(F.fd, Q.b, Q.len, out, &len) != XDP_TX)
			len = 0;
		frame_tell(&Q, out, len, line, sizeof(line));
		for (i = 0; i < 3 && strcmp(line, lines[i]); i++)
			;
		if (i == 3 && !seen[3])
			printf("# %s\n", line);
		seen[i]++;
	}
	atomic_store(&w.stop, 1);
	pthread_join(thread, NULL);
	ok = !seen[3] && seen[0] && seen[1] && seen[2];
	printf("%s %d - %s\n", ok ? "ok" : "not ok", number, name);
	printf("# figure: %lu changes, %lu answers given, %lu and %lu blocked by one list and the other, %lu otherwise\n",
	       w.versions, seen[0], seen[1], seen[2], seen[3]);
	return !ok;
}

/* One answer, of whole pairs, in the first unit. */
static void world(void)
{
	static struct fill_rr rr[2 * PAIRS + 1];
	static const __u32 a = 1, b = ~1U;

	for (int i = 0; i < 2 * PAIRS; i++)
		rr[i] = (struct fill_rr){ 1, 300, (const char *)(i & 1 ? &b : &a), 4, 0 };
	fill_reset(&F);
	fill_service(&F, "192.0.2.53");
	fill_answer(&F, &(struct fill_answer){ .name = "x.example", .qtype = 1, .rr = rr });
}

int main(void)
{
	int count = sizeof(trials) / sizeof(*trials), bad = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		printf("1..1\nok 1 - torn reads # SKIP needs two CPUs\n");
		return 0;
	}
	if (run_open(&F))
		return 0;
	printf("1..%d\n", count + 1);
	pin(0);
	frame_ask(&Q, &(struct ask){ .name = "x.example" });
	for (int i = 0; i < count; i++) {
		world();
		bad += trial_run(&trials[i], i + 1);
	}
	bad += flips_run(count + 1);
	fill_close(&F);
	return bad != 0;
}
