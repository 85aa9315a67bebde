/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl.c - the operator's command: asks the daemon over its local socket.
 *
 * Commands are rows.  What a row does not name is refused with the usage of
 * that command and exit status 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/millctl.h"

#define SOCKET "/run/millrace/api.sock"

static const struct ctl_command commands[] = {
	{ "status", ctl_status, NULL, false, {},
	  "Show the daemon, its interfaces and how each is attached, servers, lists, and what limits it." },
	{ "stats", ctl_stats, NULL, false, {}, "Show the counters of the packet path and of the daemon, and latency." },
	{ "memory", ctl_memory, NULL, false, {}, "Show what each table and the process take." },
	{ "lists check", ctl_lists_check, "FILE", true,
	  { { "--format", "FORMAT", "auto, domains, hosts, adblock, wildcard, dnsmasq, unbound, rpz or regex (auto)" } },
	  "Judge a list: what is kept, what is skipped, and why, with examples; needs no daemon." },
	{ "lists", ctl_lists, NULL, false, {}, "Show each list: names kept, lines skipped, and why, with examples." },
	{ "why", ctl_why, "NAME", true,
	  { { "--client", "ADDRESS", "who asks (127.0.0.1)" },
	    { "--type", "TYPE", "record type (A)" },
	    { "--edns", "none|edns|do", "EDNS in the question, with DNSSEC OK for do (edns)" } },
	  "Show what kernel and daemon would do with a question, and whether they agree." },
	{ "flush", ctl_flush, "NAME", false, {}, "Forget cached answers: to NAME, or all." },
	{ "tail", ctl_tail, NULL, false, {}, "Show answers as they are given, until interrupted." },
	{ "reload", ctl_reload, NULL, false, {},
	  "Let the daemon read configuration and lists again; on failure the old ones stay in force." },
	{ "config check", ctl_config_check, "FILE", true, {}, "Check a configuration file; needs no daemon." },
	{ "config reference", ctl_config_reference, NULL, false, {}, "Print every option; needs no daemon." },
	{ "help", ctl_help, "COMMAND", false, {}, "Explain a command." },
	{ NULL, NULL, NULL, false, {}, NULL }
};

static void print_synopsis(FILE *to, const struct ctl_command *k)
{
	unsigned i;

	fprintf(to, "usage: millctl [-s SOCKET] [--json] %s", k->name);
	if (k->arg)
		fprintf(to, k->arg_required ? " %s" : " [%s]", k->arg);
	for (i = 0; i < CTL_OPTIONS_MAX && k->option[i].name; i++)
		fprintf(to, " [%s %s]", k->option[i].name, k->option[i].value);
	fputc('\n', to);
}

static void print_usage(FILE *to)
{
	const struct ctl_command *k;

	fprintf(to, "usage: millctl [-s SOCKET] [--json] COMMAND\n\n");
	for (k = commands; k->name; k++)
		fprintf(to, "  %-17s %s\n", k->name, k->help);
	fprintf(to, "\n  -s SOCKET  the daemon's local socket ($MILLRACE_SOCKET, else " SOCKET ")\n"
		    "  --json     print JSON instead of text\n"
		    "  --version  print the version\n\n"
		    "Exit status: 0 done; 1 the daemon says no or cannot be reached, or a file is no list;\n"
		    "2 wrong usage or a bad configuration.\n");
}

static int usage(const struct ctl_command *k, const char *what, const char *which)
{
	fprintf(stderr, "millctl: %s%s%s\n", what, *which ? ": " : "", which);
	if (k)
		print_synopsis(stderr, k);
	else
		fprintf(stderr, "usage: millctl [-s SOCKET] [--json] COMMAND (millctl help lists them)\n");
	return CTL_USAGE;
}

/* A command that is not there.  When @word is the first of two, those that go on from it are meant. */
static int unknown_command(const char *word)
{
	const struct ctl_command *k;
	size_t n = strlen(word);
	bool half = false;

	for (k = commands; k->name; k++)
		half |= !strncmp(k->name, word, n) && k->name[n] == ' ';
	if (!half)
		return usage(NULL, "no such command", word);
	fprintf(stderr, "millctl: no such command: %s; there are\n", word);
	for (k = commands; k->name; k++)
		if (!strncmp(k->name, word, n) && k->name[n] == ' ')
			print_synopsis(stderr, k);
	return CTL_USAGE;
}

/* The command that begins at @argv; @ret_words: how many words its name has. */
static const struct ctl_command *find_command(int argc, char **argv, int *ret_words)
{
	const struct ctl_command *k;
	char two[64];

	for (k = commands; k->name; k++) {
		if (argc > 1)
			snprintf(two, sizeof(two), "%s %s", argv[0], argv[1]);
		if (!strcmp(k->name, argv[0]) || (argc > 1 && !strcmp(k->name, two))) {
			*ret_words = strchr(k->name, ' ') ? 2 : 1;
			return k;
		}
	}
	return NULL;
}

static const struct ctl_command *help_command(void)
{
	const struct ctl_command *k = commands;

	while (k->run != ctl_help)
		k++;
	return k;
}

int ctl_help(struct ctl *c)
{
	const struct ctl_command *k;
	unsigned i;

	if (!c->arg) {
		print_usage(stdout);
		return CTL_OK;
	}
	for (k = commands; k->name; k++)
		if (!strcmp(k->name, c->arg))
			break;
	if (!k->name)
		return unknown_command(c->arg);
	print_synopsis(stdout, k);
	printf("\n%s\n", k->help);
	for (i = 0; i < CTL_OPTIONS_MAX && k->option[i].name; i++)
		printf("  %-9s %-13s %s\n", k->option[i].name, k->option[i].value, k->option[i].help);
	return CTL_OK;
}

/* Match "--name VALUE" or "--name=VALUE" at argv[*at]; 1 taken, 0 another word, -1 its value is missing. */
static int take_option(const char *name, int argc, char **argv, int *at, const char **ret)
{
	size_t n = strlen(name);

	if (!strcmp(argv[*at], name)) {
		if (*at + 1 >= argc)
			return -1;
		*ret = argv[++*at];
		return 1;
	}
	if (n > 2 && !strncmp(argv[*at], name, n) && argv[*at][n] == '=') {
		*ret = argv[*at] + n + 1;
		return 1;
	}
	return 0;
}

/* Options that every command knows. */
static int take_global(struct ctl *c, int argc, char **argv, int *at)
{
	if (!strcmp(argv[*at], "--json")) {
		c->json = true;
		return 1;
	}
	return take_option("-s", argc, argv, at, &c->socket);
}

/* What follows the command. */
static int parse_rest(struct ctl *c, int argc, char **argv, int at)
{
	const struct ctl_command *k = c->command;
	bool only_args = false;
	int got;
	unsigned i;

	for (; at < argc; at++) {
		if (!only_args && !strcmp(argv[at], "--")) {
			only_args = true;
			continue;
		}
		got = only_args ? 0 : take_global(c, argc, argv, &at);
		for (i = 0; !only_args && !got && i < CTL_OPTIONS_MAX && k->option[i].name; i++)
			got = take_option(k->option[i].name, argc, argv, &at, &c->option[i]);
		if (got < 0)
			return usage(k, "this option needs a value", argv[at]);
		if (got)
			continue;
		if (!only_args && (!strcmp(argv[at], "--help") || !strcmp(argv[at], "-h"))) {
			c->arg = k->name;
			c->command = help_command();
			return CTL_OK;
		}
		if (!only_args && argv[at][0] == '-' && argv[at][1])
			return usage(k, "unknown option", argv[at]);
		if (!k->arg || c->arg)
			return usage(k, "one argument too many", argv[at]);
		c->arg = argv[at];
	}
	if (k->arg_required && !c->arg)
		return usage(k, "an argument is missing", k->arg);
	return CTL_OK;
}

int main(int argc, char **argv)
{
	struct ctl c = { .socket = getenv("MILLRACE_SOCKET") };
	int at, got, words, err;
	char two[64];

	for (at = 1; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--version")) {
			printf("millctl %s\n", MR_VERSION);
			return CTL_OK;
		}
		if (!strcmp(argv[at], "--help") || !strcmp(argv[at], "-h")) {
			print_usage(stdout);
			return CTL_OK;
		}
		got = take_global(&c, argc, argv, &at);
		if (got <= 0)
			return usage(NULL, got ? "this option needs a value" : "unknown option", argv[at]);
	}
	if (at >= argc) {
		print_usage(stderr);
		return CTL_USAGE;
	}
	c.command = find_command(argc - at, argv + at, &words);
	if (!c.command)
		return unknown_command(argv[at]);
	/* "help config check": the argument is two words */
	if (c.command->run == ctl_help && argc - at == 3) {
		snprintf(two, sizeof(two), "%s %s", argv[at + 1], argv[at + 2]);
		c.arg = two;
		return ctl_help(&c);
	}
	err = parse_rest(&c, argc, argv, at + words);
	if (err)
		return err;
	if (!c.socket || !*c.socket)
		c.socket = SOCKET;
	err = c.command->run(&c);
	if (fflush(stdout) || ferror(stdout)) {
		perror("millctl: standard output");
		return CTL_NO;
	}
	return err;
}
