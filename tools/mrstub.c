/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub.c - a stub upstream: a DNS server that answers by rule.
 *
 * For tests, benchmarks and the demo.  This file is the command line, start and
 * end; mrstub_worker.h tells what serves: UDP in batches, TCP and TLS pipelined,
 * HTTPS in many streams.  The words of a
 * rule are in --help, examples in mrstub_rules.c and docs/LAB.md.
 *
 * In the foreground; "mrstub: ready" on stderr when all sockets are bound;
 * SIGTERM and SIGINT end it with status 0; SIGUSR1 and the end print the
 * counters as one line of JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/mrstub_worker.h"

struct stub stub = {
	.port = 53,
	.seed = 1,
	.rules = { .ttl_s = 300, .minimum_s = 60 },
};

static struct stub_worker *worker[STUB_WORKERS_MAX];
static FILE *stats;
static const char *tls_cert, *tls_key, *tls_version;

static void print_stats(void)
{
	uint32_t i;

	fprintf(stats, "{\"workers\":%u", stub.workers);
#define X(name)                                                                       \
	{                                                                             \
		unsigned long long sum = 0;                                           \
                                                                                      \
		for (i = 0; i < stub.workers; i++)                                    \
			sum += atomic_load_explicit(&stub_worker_counters(worker[i])->name, \
						    memory_order_relaxed);            \
		fprintf(stats, ",\"%s\":%llu", #name, sum);                      \
	}
	STUB_COUNTERS(X)
#undef X
	fprintf(stats, "}\n");
	fflush(stats);
}

/* Start the workers, wait for a signal to end, stop them. */
static int run(void)
{
	uint32_t made, started = 0, i;
	sigset_t set;
	int err = 0, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	for (made = 0; !err && made < stub.workers; made += !err)
		err = stub_worker_new(made, &worker[made]);
	for (; !err && started < made; started += !err)
		err = stub_worker_start(worker[started]);
	if (!err) {
		fprintf(stderr, "mrstub: ready, port %u, %u workers, %u rules\n", stub.port, stub.workers,
			stub.rules.count);
		while (!sigwait(&set, &sig) && sig == SIGUSR1)
			print_stats();
	} else {
		fprintf(stderr, "mrstub: not started: %s\n", strerror(-err));
	}
	for (i = 0; i < started; i++)
		stub_worker_stop(worker[i]);
	if (!err)
		print_stats();
	for (i = 0; i < made; i++)
		stub_worker_free(worker[i]);
	return err ? 1 : 0;
}

/* ---- the command line ------------------------------------------------------ */

enum option_id { OPT_LISTEN = 256, OPT_PORT, OPT_WORKERS, OPT_RULE, OPT_RULES, OPT_TTL, OPT_MINIMUM, OPT_LOG, OPT_STATS,
	OPT_SEED, OPT_TLS, OPT_HTTPS, OPT_CERT, OPT_KEY, OPT_TLS_VERSION, OPT_HANDSHAKE, OPT_IDLE, OPT_HELP };

static const struct option options[] = {
	{ "listen", required_argument, NULL, OPT_LISTEN },   { "port", required_argument, NULL, OPT_PORT },
	{ "workers", required_argument, NULL, OPT_WORKERS }, { "rule", required_argument, NULL, OPT_RULE },
	{ "rules", required_argument, NULL, OPT_RULES },     { "ttl", required_argument, NULL, OPT_TTL },
	{ "minimum", required_argument, NULL, OPT_MINIMUM }, { "log", required_argument, NULL, OPT_LOG },
	{ "stats", required_argument, NULL, OPT_STATS },     { "seed", required_argument, NULL, OPT_SEED },
	{ "tls", required_argument, NULL, OPT_TLS },	     { "https", required_argument, NULL, OPT_HTTPS },
	{ "cert", required_argument, NULL, OPT_CERT },	     { "key", required_argument, NULL, OPT_KEY },
	{ "tls-version", required_argument, NULL, OPT_TLS_VERSION },
	{ "handshake", required_argument, NULL, OPT_HANDSHAKE },
	{ "idle", required_argument, NULL, OPT_IDLE },
	{ "help", no_argument, NULL, OPT_HELP },	     { 0 },
};

static const char usage[] =
	"usage: mrstub [--listen ADDRESS]... [--port N] [--workers N] [--rule RULE]... [--rules FILE]...\n"
	"              [--ttl SECONDS] [--minimum SECONDS] [--log FILE] [--stats FILE] [--seed N]\n"
	"              [--tls PORT] [--https PORT] [--cert FILE --key FILE] [--tls-version 1.2|1.3]\n"
	"              [--handshake MS] [--idle MS]\n"
	"\n"
	"  --listen   address to answer on, at most 16 (127.0.0.1 and ::1)\n"
	"  --port     UDP and TCP port (53)\n"
	"  --workers  threads, at most 64 (one per CPU)\n"
	"  --rule     a rule; --rules: a file with one a line, # starts a comment; the order counts\n"
	"  --ttl      TTL where a rule says none (300); --minimum: MINIMUM of the SOA (60)\n"
	"  --tls      port for DNS over TLS; --https: over HTTP/2; both need --cert and --key (PEM)\n"
	"  --tls-version  the only one that is spoken (both)\n"
	"  --handshake    milliseconds until a TLS handshake is begun (0)\n"
	"  --idle     milliseconds until an idle connection is closed (never)\n"
	"  --log      file with a line per query: time, udp, tcp, tls or https, client's port, id, name, type,\n"
	"             client's address, then those of rd cd edns do that were there\n"
	"  --stats    file for the counters, a line of JSON at SIGUSR1 and at the end (stderr)\n"
	"  --seed     of the losses (1)\n"
	"\n"
	"A rule is NAME [TYPE] WORD...; NAME is exact, *.suffix or *; the first that matches wins.\n"
	"Words:\n";

static int bad_usage(const char *what, const char *arg)
{
	fprintf(stderr, "mrstub: %s '%s' (mrstub --help tells more)\n", what, arg);
	return -EINVAL;
}

static int number(const char *name, const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v < min || v > max) {
		fprintf(stderr, "mrstub: --%s '%s'; expected a number from %u to %u\n", name, text, min, max);
		return -EINVAL;
	}
	*ret = v;
	return 0;
}

static int add_listen(const char *text)
{
	union stub_address *a = &stub.listen[stub.listen_count];

	if (stub.listen_count == STUB_PORTS_MAX)
		return bad_usage("too many --listen:", text);
	if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1)
		a->sa.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &a->v6.sin6_addr) == 1)
		a->sa.sa_family = AF_INET6;
	else
		return bad_usage("--listen expects an IPv4 or IPv6 address, not", text);
	stub.listen_count++;
	return 0;
}

static int add_rules(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned int line_no = 0;
	const char *why = NULL;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!f) {
		err = -errno;
		fprintf(stderr, "mrstub: cannot read %s: %s\n", path, strerror(errno));
		return err;
	}
	while (!err && getline(&line, &size, f) >= 0) {
		line_no++;
		err = stub_rules_add(&stub.rules, line, &why);
	}
	if (err)
		fprintf(stderr, "mrstub: %s:%u: %s\n", path, line_no, err == -ENOMEM ? strerror(ENOMEM) : why);
	free(line);
	fclose(f);
	return err;
}

static int add_rule(const char *text)
{
	const char *why = NULL;
	int err = stub_rules_add(&stub.rules, text, &why);

	if (err)
		fprintf(stderr, "mrstub: --rule '%s': %s\n", text, err == -ENOMEM ? strerror(ENOMEM) : why);
	return err;
}

static int open_file(const char *path, FILE **ret)
{
	FILE *f = fopen(path, "we");

	if (!f) {
		fprintf(stderr, "mrstub: cannot write %s: %s\n", path, strerror(errno));
		return -EINVAL;
	}
	/* A line is in the file when the query is answered: tests look right then. */
	setvbuf(f, NULL, _IOLBF, 0);
	if (*ret && *ret != stderr)
		fclose(*ret);
	*ret = f;
	return 0;
}

static int option_take(int id)
{
	switch (id) {
	case OPT_LISTEN:
		return add_listen(optarg);
	case OPT_PORT:
		return number("port", optarg, 1, 65535, &stub.port);
	case OPT_WORKERS:
		return number("workers", optarg, 1, STUB_WORKERS_MAX, &stub.workers);
	case OPT_TTL:
		return number("ttl", optarg, 0, INT32_MAX, &stub.rules.ttl_s);
	case OPT_MINIMUM:
		return number("minimum", optarg, 0, INT32_MAX, &stub.rules.minimum_s);
	case OPT_SEED:
		return number("seed", optarg, 0, UINT32_MAX, &stub.seed);
	case OPT_TLS:
		return number("tls", optarg, 1, 65535, &stub.tls_port);
	case OPT_HTTPS:
		return number("https", optarg, 1, 65535, &stub.https_port);
	case OPT_CERT:
		tls_cert = optarg;
		return 0;
	case OPT_KEY:
		tls_key = optarg;
		return 0;
	case OPT_TLS_VERSION:
		tls_version = optarg;
		return 0;
	case OPT_HANDSHAKE:
		return number("handshake", optarg, 0, 600000, &stub.handshake_ms);
	case OPT_IDLE:
		return number("idle", optarg, 1, 600000, &stub.idle_ms);
	case OPT_LOG:
		return open_file(optarg, &stub.log);
	case OPT_STATS:
		return open_file(optarg, &stats);
	case OPT_RULE:
	case OPT_RULES:
		return 0;	/* taken in a second pass, when the TTLs are known */
	default:
		return -EINVAL;	/* getopt has said what is wrong */
	}
}

/* Returns 0, 1 when only help was asked for, or a negative errno; said on stderr. */
static int command_line(int argc, char **argv)
{
	int id, err = 0;

	while (!err && (id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (id == OPT_HELP) {
			fputs(usage, stdout);
			stub_rules_help(stdout);
			return 1;
		}
		err = option_take(id);
	}
	if (!err && optind < argc)
		err = bad_usage("unknown argument", argv[optind]);
	if (err)
		return err;
	err = stub_rules_init(&stub.rules);
	optind = 0;
	while (!err && (id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (id == OPT_RULE)
			err = add_rule(optarg);
		else if (id == OPT_RULES)
			err = add_rules(optarg);
	}
	return err;
}

/* What TLS and HTTPS need; 0 or -EINVAL. */
static int tls_ready(void)
{
	if (!stub.tls_port && !stub.https_port)
		return 0;
	if (!tls_cert || !tls_key)
		return bad_usage("--tls and --https need --cert and --key, not", tls_cert ? "--cert alone" : "--key alone");
	return stub_tls_init(tls_cert, tls_key, tls_version);
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t i;
	int err;

	stub.workers = cpus < 1 ? 1 : cpus > STUB_WORKERS_MAX ? STUB_WORKERS_MAX : cpus;
	stats = stderr;
	err = command_line(argc, argv);
	if (!err && !stub.listen_count)
		err = add_listen("127.0.0.1") || add_listen("::1") ? -EINVAL : 0;
	for (i = 0; i < stub.listen_count; i++)
		stub.listen[i] = stub_address_at(&stub.listen[i], stub.port);
	err = err ? err : tls_ready();
	err = err ? (err > 0 ? 0 : 2) : run();
	stub_rules_done(&stub.rules);
	stub_tls_done();
	if (stub.log)
		fclose(stub.log);
	if (stats != stderr)
		fclose(stats);
	return err;
}
