/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrbench.c - measures single pieces of Millrace; bench/quick puts them together.
 *
 * Prints one JSON object on stdout and nothing else; warnings and errors go to
 * stderr.  Exit status: 0 done, 1 failed, 2 wrong usage.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "tools/mrbench.h"
#include "tools/mrbench_user.h"

static const char usage[] =
	"usage: mrbench [options] ns INTERFACE     nanoseconds a packet, over the null program\n"
	"       mrbench [options] maps             BPF_MAP_TYPE_HASH beside tables of our own\n"
	"       mrbench [options] serve INTERFACE  attach a subject; commands on stdin: reflect, fastpath, stats,\n"
	"                                          blocked FILE, cached FILE (queries for kxdpgun), quit\n"
	"options: --names N (1000000)  --answers N (200000)  --hot N (1000)  --packets N, of one measurement (50000)\n"
	"         --rounds N, to keep (25)  --seconds S, at most (60)  --cpu N, to stay on (the last)\n"
	"       mrbench filter [options]   a verdict in user space, one by one\n"
	"       mrbench cache [options]    an answer out of user space's cache\n"
	"       mrbench compile [options]  a list of names, until it is in force\n"
	"options: --domains N (1000000)  --iters N (200000)  --seed S (0x5eed)\n"
	"         --assert, a missed target is exit status 1  --json, instead of a table\n";

/* A count in @min..@max; exits with the reason. */
static double number(const char *option, const char *text, double min, double max)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v >= min && v <= max)) {
		fprintf(stderr, "mrbench: %s is '%s'; expected a number in %.0f..%.0f\n", option, text, min, max);
		exit(2);
	}
	return v;
}

static int options(int argc, char **argv, struct bench_options *o)
{
	int i;

	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "--names"))
			o->sizes.names = (uint32_t)number(argv[i], argv[i + 1], 1, 10e6);
		else if (!strcmp(argv[i], "--answers"))
			o->sizes.answers = (uint32_t)number(argv[i], argv[i + 1], 1, 10e6);
		else if (!strcmp(argv[i], "--hot"))
			o->sizes.hot = (uint32_t)number(argv[i], argv[i + 1], 1, 1e6);
		else if (!strcmp(argv[i], "--packets"))
			o->repeat = (uint32_t)number(argv[i], argv[i + 1], 1, 100e6);
		else if (!strcmp(argv[i], "--rounds"))
			o->rounds = (unsigned)number(argv[i], argv[i + 1], 1, 2000);
		else if (!strcmp(argv[i], "--seconds"))
			o->seconds = number(argv[i], argv[i + 1], 0, 3600);
		else if (!strcmp(argv[i], "--cpu"))
			o->cpu = (int)number(argv[i], argv[i + 1], 0, 8191);
		else
			break;
	}
	if (o->sizes.hot > o->sizes.names)
		o->sizes.hot = o->sizes.names;
	if (o->sizes.hot > o->sizes.answers)
		o->sizes.hot = o->sizes.answers;
	return i;
}

static void warn_build(void)
{
	if (strcmp(bench_build(), "release"))
		fprintf(stderr, "mrbench: warning: a build with %s; figures of user space mean nothing\n",
			!strcmp(bench_build(), "debug") ? "no optimisation" : bench_build());
}

static int to_stderr(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, args) : 0;
}

int main(int argc, char **argv)
{
	struct bench_options o = { { 1000000, 200000, 1000 }, 50000, 25, 60, -1 };
	struct err_at at = { 0 };
	int first = options(argc, argv, &o), left = argc - first, err;
	const char *command = left > 0 ? argv[first] : "";
	char text[768];

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		return 0;
	}
	log_set_level(LOG_LEVEL_WARN);
	libbpf_set_print(to_stderr);
	warn_build();
	o.cpu = bench_pin(o.cpu);
	if (argc > 1 && (err = bench_user(argc - 1, argv + 1)) >= 0)
		return err;
	if (!strcmp(command, "ns") && left == 2) {
		err = bench_ns(&o, argv[first + 1], &at);
	} else if (!strcmp(command, "maps") && left == 1) {
		err = bench_maps(&o, &at);
	} else if (!strcmp(command, "serve") && left == 2) {
		err = bench_serve(&o, argv[first + 1], &at);
	} else {
		fputs(usage, stderr);
		return 2;
	}
	if (err) {
		if (!at.why[0])
			err_why(&at, err, "%s", strerror(-err));
		fprintf(stderr, "mrbench: %s: %s\n", command, err_text(&at, text, sizeof(text)));
	}
	return err ? 1 : 0;
}
