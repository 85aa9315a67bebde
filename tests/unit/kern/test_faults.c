/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_faults.c - the n-th bpf() call fails, for n = 1, 2, 3 ... until the
 * operation comes through untouched.
 *
 * This file's syscall() stands before the C library's, so libbpf calls it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"
#include "unit/kern/lab.h"

static unsigned fail_at;		/* counts down at each call; 0: none fails */
static unsigned failed;
static int fail_errno;

static long raw(long n, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}

long syscall(long n, ...)
{
	long v[6], ret;
	va_list args;
	unsigned i;

	va_start(args, n);
	for (i = 0; i < 6; i++)
		v[i] = va_arg(args, long);
	va_end(args);
	if (n == SYS_bpf && fail_at && !--fail_at) {
		failed++;
		errno = fail_errno;
		return -1;
	}
	ret = raw(n, v[0], v[1], v[2], v[3], v[4], v[5]);
	if (ret < 0 && ret > -4096) {
		errno = -ret;
		return -1;
	}
	return ret;
}

/* Let the n-th call from now on fail; true when the last one was reached. */
static bool arm(unsigned n)
{
	bool reached = failed;

	failed = 0;
	fail_at = n;
	return reached;
}

static void assert_nothing_left(void)
{
	assert_int_equal(program_on("kern0"), 0);
	assert_int_equal(files_in(root), 0);
}

static const struct errno_case {
	const char *name;
	int error;
} open_cases[] = {
	{ "opening with any bpf call failing by EPERM is on, or off with a reason, and leaves nothing",  EPERM },
	{ "opening with any bpf call failing by ENOMEM is on, or off with a reason, and leaves nothing", ENOMEM },
};

static void run_open(void **state)
{
	const struct errno_case *c = *state;
	struct mr_secret secret = make_secret(1);
	struct kern_opts o = options();
	struct kern_status s;
	struct err_at e;
	struct kern *k;
	unsigned n;
	int err;

	fail_errno = c->error;
	for (n = 1;; n++) {
		memset(&e, 0, sizeof(e));
		arm(n);
		err = kern_open(&o, &secret, &k, &e);
		if (!arm(0))
			break;
		if (!err) {
			s = status_of(k);
			assert_true(s.on || s.reason[0]);
			kern_close(k, true);
		} else {
			assert_int_equal(err, -ENOMEM);
		}
		assert_nothing_left();
	}
	assert_int_equal(err, 0);
	assert_true(n > 20);
	assert_true(status_of(k).on);
	kern_close(k, true);
	assert_nothing_left();
}

static void a_filter_that_cannot_grow_leaves_the_old_one_in_force(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct filter *f = make_filter(&secret, 17000);
	struct mr_verdict *v = make_verdicts(f);
	struct filter_view view;
	struct err_at e;
	struct kern *k;
	unsigned n;
	bool mapped;
	int err;

	fail_errno = EINVAL;
	k = open_usual();
	kern_enable(k, true);
	publish(k, 5);
	for (n = 1;; n++) {
		memset(&e, 0, sizeof(e));
		arm(n);
		err = kern_filter_publish(k, f, v, 1, &view, &mapped, &e);
		if (!arm(0) || !err)
			break;
		assert_true(e.why[0]);
		assert_true(kern_filter_view(k, &view));
		assert_int_equal(judge(&view, &secret, "n5.example"), MR_BLOCK);
		assert_int_equal(judge(&view, &secret, "n16999.example"), MR_NONE);
		assert_int_equal(ask(k, "n5.example", "10.53.9.2").why.stat, MR_STAT_blocked);
		assert_int_equal(ask(k, "n16999.example", "10.53.9.2").why.stat, MR_STAT_pass_miss);
		assert_int_equal(status_of(k).iface[0].prog_id, program_on("kern0"));
	}
	assert_int_equal(err, 0);
	assert_int_equal(ask(k, "n16999.example", "10.53.9.2").why.stat, MR_STAT_blocked);
	stop(k, true);
	assert_nothing_left();
	free(v);
	filter_free(f);
}

/* Whatever fails, the program attached is that of the tables in force, and the old answers are whole or gone. */
static void taking_over_with_any_call_failing_ends_in_one_whole_state(void **state)
{
	struct mr_secret secret = make_secret(1);
	struct kern_opts o = options();
	struct kern_status s;
	struct err_at e = { 0 };
	struct kern *k;
	unsigned n;
	bool more;
	int err;

	fail_errno = EINVAL;
	for (n = 1, more = true; more; n++) {
		k = open_usual();
		put_a(k, "www.example");
		stop(k, false);
		arm(n);
		err = kern_open(&o, &secret, &k, &e);
		more = arm(0);
		assert_int_equal(err, 0);
		s = status_of(k);
		assert_int_equal(holds(k, "www.example"), kern_taken_over(k));
		if (s.on)
			assert_int_equal(s.iface[0].prog_id, program_on("kern0"));
		kern_close(k, true);
		assert_nothing_left();
	}
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest tests[COUNT(open_cases) + 2];
	size_t n = 0, i;

	for (i = 0; i < COUNT(open_cases); i++)
		tests[n++] = (struct CMUnitTest){ open_cases[i].name, run_open, setup, teardown,
						  (void *)&open_cases[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test_setup_teardown(
		a_filter_that_cannot_grow_leaves_the_old_one_in_force, setup, teardown);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test_setup_teardown(
		taking_over_with_any_call_failing_ends_in_one_whole_state, setup, teardown);
	return run_in_lab("faults", tests, n);
}
