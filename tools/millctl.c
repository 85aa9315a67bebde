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
	{ "upstreams", ctl_upstreams, NULL, false, {},
	  "Show the servers that are asked: state, latency, what is in flight, errors by kind and why." },
	{ "lists check", ctl_lists_check, "FILE", true,
	  { { "--format", "FORMAT", "auto, domains, hosts, adblock, wildcard, dnsmasq, unbound, rpz or regex (auto)" } },
	  "Judge a list: what is kept, what is skipped, and why, with examples; needs no daemon." },
	{ "lists", ctl_lists, NULL, false, {}, "Show each list: names kept, lines skipped, and why, with examples." },
	{ "lists show", ctl_list_show, "NAME", true, {}, "Show one list: where it is from, what it gave, what was skipped and why." },
	{ "lists add", ctl_list_add, "NAME URL|FILE", true,
	  { { "--format", "FORMAT", "auto, hosts, domains, adblock, wildcard, dnsmasq, unbound, rpz or regex (auto)" },
	    { "--action", "block|allow", "what is done with its names (block)" },
	    { "--refresh", "TIME", "how often a URL is fetched again (24h)" } },
	  "Make a list; when the command returns it is in force, or is being fetched." },
	{ "lists remove", ctl_list_remove, "NAME", true, {}, "Take away a list that was made so." },
	{ "lists refresh", ctl_list_refresh, "NAME", false, {}, "Fetch a list now, or all of them." },
	{ "rule list", ctl_rule_list, NULL, false, { { "--group", "GROUP", "those of this group alone" } },
	  "Show all rules and where they are from." },
	{ "rule add", ctl_rule_add, "RULE", true, { { "--group", "GROUP", "for this group alone" } },
	  "Make a rule, written as in an adblock list (||name^, @@||name^, /regex/); in force when the command returns." },
	{ "rule remove", ctl_rule_remove, "RULE", true, { { "--group", "GROUP", "the rule that was made for this group" } },
	  "Take away a rule that was made so." },
	{ "rewrite list", ctl_rewrite_list, NULL, false, {}, "Show local names and their answers." },
	{ "rewrite add", ctl_rewrite_add, "NAME ANSWER...", true, { { "--ttl", "SECONDS", "of the answer (300)" } },
	  "Answer NAME (\"*.name\": all below) with addresses, or as an alias of one name." },
	{ "rewrite remove", ctl_rewrite_remove, "NAME", true, {}, "Take away a local name that was made so." },
	{ "client list", ctl_client_list, NULL, false, {}, "Show clients that have a name." },
	{ "client show", ctl_client_show, "NAME", true, {}, "Show one client." },
	{ "client set", ctl_client_set, "NAME ADDRESS...", true, { { "--tags", "TAG,...", "what $ctag in rules asks for" } },
	  "Give a client a name, by addresses, prefixes or mac:02:00:00:00:00:01." },
	{ "client delete", ctl_client_delete, "NAME", true, {}, "Take away a client that was made so." },
	{ "group list", ctl_group_list, NULL, false, {}, "Show groups of clients and what each uses." },
	{ "group show", ctl_group_show, "NAME", true, {}, "Show one group, as JSON that \"group set --body\" takes." },
	{ "group set", ctl_group_set, "NAME", true,
	  { { "--clients", "CLIENT,...", "names, addresses, prefixes, mac:..." },
	    { "--lists", "LIST,...", "lists that it uses; all: every one" },
	    { "--safe-search", "on|off", "send search engines to their safe side" },
	    { "--no-types", "TYPE,...", "record types answered as if there were none; none: no such types" },
	    { "--block-mode", "MODE", "null_address, nxdomain, nodata or refused" },
	    { "--block-ttl", "SECONDS", "of blocked answers" },
	    { "--body", "FILE", "the whole group as JSON; -: standard input" } },
	  "Make a group, or change what the options say of one that was made so." },
	{ "group delete", ctl_group_delete, "NAME", true, {}, "Take away a group that was made so." },
	{ "pause", ctl_pause, "DURATION", false,
	  { { "--group", "GROUP", "for this group alone" }, { "--client", "CLIENT", "for this client (name, address, mac:...) alone" } },
	  "Lift blocks for a time (90s, 5m, 2h; without: until resumed), for all or one group or client." },
	{ "pause list", ctl_pause_list, NULL, false, {}, "Show pauses in force." },
	{ "resume", ctl_resume, NULL, false,
	  { { "--group", "GROUP", "the pause of this group" }, { "--client", "CLIENT", "the pause of this client" } },
	  "End a pause." },
	{ "why", ctl_why, "NAME", true,
	  { { "--client", "CLIENT", "who asks: an address, mac:... or a client's name (127.0.0.1)" },
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

	*ret_words = 2;
	snprintf(two, sizeof(two), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	for (k = commands; k->name; k++)
		if (!strcmp(k->name, two))
			return k;
	*ret_words = 1;
	for (k = commands; k->name; k++)
		if (!strcmp(k->name, argv[0]))
			return k;
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
	struct table *options;
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
	options = table_new("lll");
	for (i = 0; i < CTL_OPTIONS_MAX && k->option[i].name; i++)
		table_row(options, k->option[i].name, k->option[i].value, k->option[i].help);
	table_print(options, 2);
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

static unsigned words_of(const char *text)
{
	unsigned n = text != NULL;

	for (; text && *text; text++)
		n += *text == ' ';
	return n;
}

static unsigned args_max(const struct ctl_command *k)
{
	size_t n = k->arg ? strlen(k->arg) : 0;

	return n > 3 && !strcmp(k->arg + n - 3, "...") ? CTL_ARGS_MAX : words_of(k->arg);
}

/* The @i-th word of @text. */
static const char *word_at(const char *text, unsigned i, char *buf, size_t size)
{
	for (; i && strchr(text, ' '); i--)
		text = strchr(text, ' ') + 1;
	snprintf(buf, size, "%.*s", (int)strcspn(text, " "), text);
	return buf;
}

const char *ctl_option(const struct ctl *c, const char *name)
{
	unsigned i;

	for (i = 0; i < CTL_OPTIONS_MAX && c->command->option[i].name; i++)
		if (!strcmp(c->command->option[i].name, name))
			return c->option[i];
	return NULL;
}

/* What follows the command. */
static int parse_rest(struct ctl *c, int argc, char **argv, int at)
{
	const struct ctl_command *k = c->command;
	bool only_args = false;
	char word[32];
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
		if (c->arg_count == args_max(k))
			return usage(k, "one argument too many", argv[at]);
		c->args[c->arg_count++] = argv[at];
	}
	c->arg = c->args[0];
	if (k->arg_required && c->arg_count < words_of(k->arg))
		return usage(k, "an argument is missing", word_at(k->arg, c->arg_count, word, sizeof(word)));
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
