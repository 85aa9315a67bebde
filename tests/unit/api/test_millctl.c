/* SPDX-License-Identifier: BSD-2-Clause */
/* test_millctl.c - the program itself against the API over a fake control: what it prints, and its exit status. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit/api/fake.h"

#define ARGS_MAX 12

static struct api *api;
static char program[4096];

struct ran {
	int status;
	char out[65536];
	char err[8192];
};

static void slurp(int fd, char *buf, size_t size)
{
	ssize_t n = pread(fd, buf, size - 1, 0);

	buf[n > 0 ? n : 0] = 0;
	close(fd);
}

/* Run millctl with @line's words; "@" stands for the test's socket, "~" for its folder. */
static void run(const char *line, struct ran *r)
{
	char copy[1024], dir[256], *rest = copy, *word, *argv[ARGS_MAX + 2] = { program };
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), n = 1, status;
	char path[ARGS_MAX][512];
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s", fake_path());
	dirname(dir);
	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " ")) && n <= ARGS_MAX) {
		if (!strcmp(word, "@"))
			word = (char *)fake_path();
		if (*word == '~') {
			snprintf(path[n - 1], sizeof(path[0]), "%s%s", dir, word + 1);
			word = path[n - 1];
		}
		if (*word)
			argv[n++] = word;
	}
	pid = fork();
	if (!pid) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		execv(program, argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	slurp(out, r->out, sizeof(r->out));
	slurp(err, r->err, sizeof(r->err));
}

static const struct run_case {
	const char *name;
	const char *line;
	int status;
	const char *out;		/* somewhere on standard output; NULL: nothing at all */
	const char *err;		/* the same on standard error */
} run_cases[] = {
	/* for people */
	{ "status shows pid, user and time up", "-s @ status", 0, "millraced 9.8.7, pid 42, user millrace, up 3 d 2 h\n", NULL },
	{ "status shows the upstream servers",  "-s @ status", 0, "  upstreams  192.0.2.1:53\n", NULL },
	{ "status shows interfaces as a table", "-s @ status", 0,
	  "INTERFACE  MODE     DRIVER  LINK  REASON AND REMEDY\n"
	  "eth0       native   veth    up    -\n"
	  "eth1       generic  dumb    down  no native XDP; use another driver\n", NULL },
	{ "status shows what was made",         "-s @ status", 0,
	  "  objects    3 made with millctl, 1 pause; 1 more is not in force\n", NULL },
	{ "status shows what is not in force",  "-s @ status", 0,
	  "Not in force:\n  - group mine, from millctl: managed by file\n  - rule ||x^$y, from file: no such modifier\n", NULL },
	{ "status counts special rules",        "-s @ status", 0, " names, lists: 1, special rules: 7,", NULL },
	{ "lists shows one that is left out",   "-s @ lists", 0, "left out: managed by file\n", NULL },
	{ "status shows what waits for the next start", "-s @ status", 0,
	  "  waiting    for the next start: server.listen state\n", NULL },
	{ "status shows lists",                 "-s @ status", 0, "starter     13        1           0        2  in force\n", NULL },
	{ "status shows what is left to the daemon", "-s @ status", 0, "left to the daemon: 5,000, blocked in every group: 7\n", NULL },
	{ "status shows limits",                "-s @ status", 0, "  - frames grow by at most 230 bytes\n", NULL },
	{ "status shows who answered",          "-s @ status", 0, "900 in the kernel (90.0 %), 100 passed to the daemon", NULL },
	{ "stats shows counters with help",     "-s @ stats", 0, "blocked                 300  answered: blocked by the filter\n", NULL },
	{ "stats shows latency",                "-s @ stats", 0, "blocked                  100  300 ns  384 ns  509 ns\n", NULL },
	{ "upstreams shows state and counts",   "-s @ upstreams", 0,
	  "192.0.2.1:53       failed      12.3 ms          2  1,500    1,400         1        2      90       8\n", NULL },
	{ "upstreams says what a server is for", "-s @ upstreams", 0, "at 192.0.2.1:53, for servers corp.example\n", NULL },
	{ "upstreams says the last reason",     "-s @ upstreams", 0, "    3 s ago: no answer\n", NULL },
	{ "upstreams says what is not resolved", "-s @ upstreams", 0, "its name is not resolved, for fallback, without EDNS\n", NULL },
	{ "upstreams --json",                   "-s @ --json upstreams", 0, "\"strategy\": \"parallel_best\"", NULL },
	{ "memory shows maps with units",       "-s @ memory", 0, "mr_answers               3.0 MiB\n", NULL },
	{ "lists shows examples",               "-s @ lists", 0, "      line 7: example.com##.ad\n", NULL },
	{ "flush says how many",                "-s @ flush a.test", 0, "3 answers in the kernel, 5 in the daemon\n", NULL },
	{ "flush needs no name",                "-s @ flush", 0, "3 answers in the kernel", NULL },
	{ "reload confirms",                    "-s @ reload", 0, "reloaded\n", NULL },
	{ "tail shows an event a line",         "-s @ tail", 0,
	  "22:13:20.123456Z kernel udp  192.0.2.77       AAAA  ads.com                        NXDOMAIN filter, block by \"starter\"\n",
	  NULL },
	{ "why says what the kernel does",      "-s @ why a.test", 0, "kernel   answers: from the table of answers\n", NULL },
	{ "why shows the kernel's time",        "-s @ why a.test", 0, "time     312 ns\n", NULL },
	{ "why shows the answer as text",       "-s @ why a.test", 0, "192.0.2.49", NULL },
	{ "why finds that they agree, whatever order and TTL", "-s @ why a.test", 0,
	  "Kernel and daemon agree (ID and TTLs apart).\n", NULL },
	{ "why shows one answer once",          "-s @ why a.test", 0, "      the same answer\n", NULL },
	{ "why finds another rcode",            "-s @ why rcode.test", 0, "the kernel says NOERROR, the daemon NXDOMAIN", NULL },
	{ "why finds a record that one lacks",  "-s @ why record.test", 0,
	  "only the kernel has: answer record.test CLASS1 A \\# 4 c0000232\n", NULL },
	{ "why finds a record that the other lacks", "-s @ why record.test", 0,
	  "only the daemon has: answer record.test CLASS1 A \\# 4 c0000233\n", NULL },
	{ "why finds another verdict",          "-s @ why blocked.test", 0, "the verdicts are not the same", NULL },
	{ "why shows that it was a link",       "-s @ why link.test", 0,
	  "block by list \"starter\", for a name that the answer leads to\n", NULL },
	{ "why names the link",                 "-s @ why link.test", 0, "a name that the answer leads to: to.out\n", NULL },
	{ "why shows the pause in the daemon",  "-s @ why paused.test", 0, ", paused: nothing is blocked\n  schedule ", NULL },
	{ "why shows what a schedule keeps out", "-s @ why paused.test", 0, "schedule  keeps out now: starter, group:kids\n", NULL },
	{ "why shows a pause",                  "-s @ why paused.test", 0, "access: allow, paused: nothing is blocked\n", NULL },
	{ "why shows rule and line",            "-s @ why blocked.test", 0, "  rule     ||blocked.test^, line 12\n", NULL },
	{ "why shows what decided",             "-s @ why blocked.test", 0, "  because  a name of a list\n", NULL },
	{ "why shows list and entry",           "-s @ why blocked.test", 0,
	  "block by list \"starter\", entry 0x0000000000001234", NULL },
	{ "why says when an answer is malformed", "-s @ why broken.test", 0, "cannot be compared: one is malformed", NULL },
	{ "why shows why the kernel is off",    "-s @ why off.test", 0, "kernel   cannot be asked: the fast path is off", NULL },
	{ "why says when nothing compares",     "-s @ why late.test", 0, "Nothing to compare", NULL },
	{ "options may follow the argument",    "-s @ why a.test --type AAAA --client=192.0.2.9", 0,
	  "a.test AAAA, asked by 192.0.2.9\n", NULL },
	{ "options may stand before it",        "-s @ why --edns none a.test", 0, "asked by 127.0.0.1 without EDNS\n", NULL },
	{ "global options may come last",       "status -s @", 0, "millraced 9.8.7", NULL },
	/* objects */
	{ "lists show is one list",             "-s @ lists show starter", 0, "starter     13        1           0        2  in force\n", NULL },
	{ "lists show says what was kept",      "-s @ lists show starter", 0, "  1  allow: names allowed\n", NULL },
	{ "lists show of nothing says so",      "-s @ lists show nothing", 1, NULL, "there is no list of this name" },
	{ "lists add takes a URL",              "-s @ lists add x https://l.example/a --refresh 1h --action allow", 0, "list x is made", NULL },
	{ "lists add takes a file that is there", "-s @ lists add x ~/good.yaml", 0, "list x is made", NULL },
	{ "lists add knows no other scheme",    "-s @ lists add x ftp://l.example/a", 2, NULL, "a URL of http:// or https://" },
	{ "lists add needs a file that is there", "-s @ lists add x ~/none", 2, NULL, "No such file" },
	{ "lists add needs a source",           "-s @ lists add x", 2, NULL, "an argument is missing: URL|FILE\n" },
	{ "lists remove confirms",              "-s @ lists remove x", 0, "list x is gone\n", NULL },
	{ "lists refresh of one",               "-s @ lists refresh x", 0, "being fetched", NULL },
	{ "lists refresh of all",               "-s @ lists refresh", 0, "being fetched", NULL },
	{ "rule list is a table",               "-s @ rule list", 0,
	  "RULE                GROUP  FROM\n||tracker.example^  all    file\n||run.example^      all    millctl\n", NULL },
	{ "rule list may be of one group",      "-s @ rule list --group kids", 0,
	  "RULE              GROUP  FROM\n||games.example^  kids   file\n||kid.example^    kids   millctl\n", NULL },
	{ "rule add for a group names it",      "-s @ rule add --group kids ||a.example^", 0,
	  "rule ||a.example^ of group kids is in force\n", NULL },
	{ "rule remove of a group names it",    "-s @ rule remove ||a.example^ --group kids", 0,
	  "rule ||a.example^ of group kids is gone\n", NULL },
	{ "rule list names groups",             "-s @ rule list", 0, "||games.example^    kids   file\n", NULL },
	{ "rule add confirms",                  "-s @ rule add ||a.example^", 0, "rule ||a.example^ is in force\n", NULL },
	{ "rule remove confirms",               "-s @ rule remove ||a.example^", 0, "rule ||a.example^ is gone\n", NULL },
	{ "a rule may begin with a dash",       "-s @ rule add -- -a.example", 0, "rule -a.example is in force\n", NULL },
	{ "rule alone shows what there is",     "rule", 2, NULL, "[--json] rule add RULE [--group GROUP]\n" },
	{ "rewrite list is a table",            "-s @ rewrite list", 0,
	  "printer.home.example  192.168.1.5 fd00::5  300  file\n", NULL },
	{ "rewrite add takes several answers",  "-s @ rewrite add a.example 192.0.2.1 192.0.2.2 --ttl 60", 0,
	  "rewrite a.example is in force\n", NULL },
	{ "rewrite add needs an answer",        "-s @ rewrite add a.example", 2, NULL, "an argument is missing: ANSWER...\n" },
	{ "rewrite add wants a number",         "-s @ rewrite add a.example 192.0.2.1 --ttl 5x", 2, NULL, "not \"5x\"" },
	{ "rewrite remove confirms",            "-s @ rewrite remove a.example", 0, "rewrite a.example is gone\n", NULL },
	{ "client list is a table",             "-s @ client list", 0,
	  "tablet  192.168.1.7 mac:02:00:00:00:00:01  device_tablet  file\n", NULL },
	{ "client show is one",                 "-s @ client show tablet", 0, "device_tablet", NULL },
	{ "client set confirms",                "-s @ client set t 192.0.2.1 --tags a,b", 0, "client t is in force\n", NULL },
	{ "client delete confirms",             "-s @ client delete t", 0, "client t is gone\n", NULL },
	{ "group list is a table",              "-s @ group list", 0, "kids     192.168.1.0/25 tablet  ads        2          1  off          file\n", NULL },
	{ "group list says who is in default",  "-s @ group list", 0, "default  all others             all        0          0  off          file\n", NULL },
	{ "group show is what set takes",       "-s @ group show kids", 0, "\"lists\": [\n    \"ads\"\n  ],", NULL },
	{ "group set makes a group",            "-s @ group set new --clients 192.0.2.0/24,tablet --safe-search on", 0,
	  "group new is in force\n", NULL },
	{ "group set takes a body",             "-s @ group set new --body ~/group.json", 0, "group new is in force\n", NULL },
	{ "group set wants JSON",               "-s @ group set new --body ~/good.yaml", 2, NULL, "good.yaml:1: " },
	{ "group set wants on or off",          "-s @ group set kids --safe-search maybe", 2, NULL, "--safe-search is on or off" },
	{ "group delete confirms",              "-s @ group delete kids", 0, "group kids is gone\n", NULL },
	{ "pause says for how long",            "-s @ pause 1h30m", 0, "blocks are lifted for everybody, for 1 h 30 min\n", NULL },
	{ "pause without end says how to end it", "-s @ pause --group kids", 0,
	  "blocks are lifted for group kids, until \"millctl resume\"\n", NULL },
	{ "pause wants a duration",             "-s @ pause soon", 2, NULL, "not \"soon\"" },
	{ "pause wants one scope",              "-s @ pause --group a --client b", 2, NULL, "are two pauses" },
	{ "pause list is a table",              "-s @ pause list", 0, "PAUSED  NAME  FOR\ngroup   kids  1 min 30 s\nall     -     until resumed\n", NULL },
	{ "resume confirms",                    "-s @ resume --client 192.0.2.1", 0, "blocks are in force again for client 192.0.2.1\n", NULL },
	{ "rule add --json is the API's",       "-s @ --json rule add ||a.example^", 0, "\"done\": \"put\"", NULL },
	/* --json */
	{ "status --json is the API's",         "-s @ --json status", 0, "\"uptime_s\": 266400,", NULL },
	{ "--json may follow",                  "-s @ stats --json", 0, "\"kernel\": {", NULL },
	{ "memory --json",                      "-s @ --json memory", 0, "\"maps_bytes\": 4194304", NULL },
	{ "lists --json",                       "-s @ --json lists", 0, "\"reasons\": {", NULL },
	{ "why --json",                         "-s @ --json why a.test", 0, "\"ns\": 312", NULL },
	{ "flush --json",                       "-s @ --json flush a.test", 0, "\"name\": \"a.test\"", NULL },
	{ "reload --json",                      "-s @ --json reload", 0, "\"reloaded\": true", NULL },
	{ "tail --json gives lines as they come", "-s @ --json tail", 0, "\"name\":\"ads.com\"", NULL },
	{ "an error --json is the API's",       "-s @ --json why a..b", 2, "\"where\": \"name\"", NULL },
	/* the daemon says no */
	{ "a bad name is wrong usage",          "-s @ why a..b", 2, NULL, "expected  a domain name" },
	{ "a bad type is wrong usage",          "-s @ why a.test --type NOPE", 2, NULL, "where     type\n" },
	{ "without a daemon the socket is named", "-s /nonexistent/api.sock status", 1, NULL,
	  "millctl: no daemon answers at /nonexistent/api.sock: No such file or directory\n" },
	{ "without a daemon the start is shown", "-s /nonexistent/api.sock status", 1, NULL, "systemctl start millrace" },
	{ "a tail without a daemon",            "-s /nonexistent/api.sock tail", 1, NULL, "no daemon answers" },
	/* usage */
	{ "the version",                        "--version", 0, "millctl " MR_VERSION "\n", NULL },
	{ "help lists commands",                "help", 0, "  config check      Check a configuration file", NULL },
	{ "help explains a command",            "help why", 0, "--client  CLIENT", NULL },
	{ "help explains one of two words",     "help config check", 0, "config check FILE", NULL },
	{ "--help after a command",             "why --help", 0, "usage: millctl [-s SOCKET] [--json] why NAME", NULL },
	{ "help for what is none",              "help nothing", 2, NULL, "no such command: nothing" },
	{ "no command is wrong usage",          "", 2, NULL, "usage: millctl" },
	{ "an unknown command is wrong usage",  "frobnicate", 2, NULL, "no such command: frobnicate" },
	{ "half a command is wrong usage",      "config", 2, NULL, "no such command: config; there are\n" },
	{ "half a command shows both wholes",   "config chekc", 2, NULL, "config check FILE\nusage: millctl [-s SOCKET] [--json] config reference\n" },
	{ "help for half a command shows them", "help config", 2, NULL, "config check FILE\n" },
	{ "an unknown option shows that command's usage", "why a.test --frob", 2, NULL,
	  "unknown option: --frob\nusage: millctl [-s SOCKET] [--json] why NAME [--client CLIENT]" },
	{ "another command's option is unknown", "status --type A", 2, NULL, "unknown option: --type" },
	{ "an unknown global option",           "-x status", 2, NULL, "unknown option: -x" },
	{ "an argument too many",               "status now", 2, NULL, "one argument too many: now" },
	{ "a missing argument",                 "why", 2, NULL, "an argument is missing: NAME" },
	{ "a missing value",                    "why a.test --type", 2, NULL, "this option needs a value: --type" },
	{ "a missing socket",                   "-s", 2, NULL, "this option needs a value: -s" },
	/* the configuration, without a daemon */
	{ "a good configuration",               "config check ~/good.yaml", 0, "a good configuration\n", NULL },
	{ "a bad configuration says file and line", "config check ~/bad.yaml", 2, NULL, "/bad.yaml:2: cache.entires" },
	{ "a bad configuration --json",         "config check ~/bad.yaml --json", 2, "\"line\": 2", NULL },
	{ "a good configuration --json",        "--json config check ~/good.yaml", 0, "\"ok\": true", NULL },
	{ "a missing configuration",            "config check /nonexistent.yaml", 2, NULL,
	  "/nonexistent.yaml: cannot be read: No such file or directory" },
	{ "a folder is no configuration",       "config check ~", 2, NULL, "cannot be read: Is a directory" },
	/* a list, without a daemon */
	{ "a list is counted",                  "lists check ~/list.txt", 0, "exact                   1  names blocked alone\n", NULL },
	{ "duplicates of a list are counted",   "lists check ~/list.txt", 0, "duplicates              1\n", NULL },
	{ "skipped lines of a list have examples", "lists check ~/list.txt", 0, "line 4: a.example##.ad\n", NULL },
	{ "a list --json",                      "lists check ~/list.txt --json", 0,
	  "  \"lines\": 6,\n  \"kept\": {\n    \"exact\": 1,\n    \"subtree\": 1,\n    \"allow\": 0,\n    \"regex\": 0,\n"
	  "    \"rewrite\": 1,\n    \"address\": 0,\n    \"route\": 0\n  },\n  \"duplicates\": 1,\n  \"sink\": null,\n  \"sunk\": 0,\n  \"skipped\": {\n"
	  "    \"empty\": 1,\n    \"cosmetic\": 1\n  }\n", NULL },
	{ "a pattern that does not compile is skipped", "lists check ~/patterns.txt", 0, "line 2: /(/\n", NULL },
	{ "patterns of a list are compiled",    "lists check ~/patterns.txt", 0, "regex                   1  regular expressions\n", NULL },
	{ "a list of a named format",           "lists check ~/list.txt --format dnsmasq --json", 0, "\"statement\": 5", NULL },
	{ "a format that is none",              "lists check ~/list.txt --format bogus", 2, NULL, "no such format: bogus; there are auto domains" },
	{ "a page is no list",                  "lists check ~/page.txt", 1, NULL, "page.txt: no list: it is an HTML page\n" },
	{ "a page is no list --json",           "lists check ~/page.txt --json", 1, "\"error\": \"no list: it is an HTML page\"", NULL },
	{ "a missing list",                     "lists check /nonexistent", 1, NULL, "/nonexistent: cannot be read: No such file or directory" },
	{ "a list is not named",                "lists check", 2, NULL, "an argument is missing: FILE" },
	{ "the reference names options",        "config reference", 0, "cache.max_ttl", NULL },
	{ "the reference --json",               "config reference --json", 0, "\"path\": \"server.listen\"", NULL },
};

static void expect_text(const char *what, const char *text, const char *wanted)
{
	if (wanted ? !strstr(text, wanted) : *text)
		fail_msg("%s should have %s%s%s, but is: %s", what, wanted ? "\"" : "", wanted ? wanted : "nothing",
			 wanted ? "\"" : "", text);
}

static void run_row(void **state)
{
	const struct run_case *c = *state;
	struct ran r;

	fake_reset();
	fake.events = 1;
	fake.end = true;
	run(c->line, &r);
	expect_text("standard output", r.out, c->out);
	expect_text("standard error", r.err, c->err);
	assert_int_equal(r.status, c->status);
}

/* ---- beside the table ---- */

static void the_environment_names_the_socket(void **state)
{
	struct ran r;

	fake_reset();
	setenv("MILLRACE_SOCKET", fake_path(), 1);
	run("status", &r);
	unsetenv("MILLRACE_SOCKET");
	assert_int_equal(r.status, 0);
}

static void a_failed_reload_shows_file_line_and_key(void **state)
{
	struct ran r;

	fake_reset();
	fake.reload_error = -EINVAL;
	err_where(&fake.reload_at, "/etc/millrace/millrace.yaml", 12, "server.port");
	err_why(&fake.reload_at, 0, "no such key");
	run("-s @ reload", &r);
	assert_int_equal(r.status, 1);
	expect_text("standard error", r.err, "not reloaded, what was in force stays: no such key\n"
		    "  file      /etc/millrace/millrace.yaml\n  line      12\n  key       server.port\n");
	fake_reset();
}

static void a_daemon_that_stops_is_a_failure(void **state)
{
	struct ran r;

	fake_reset();
	fake.error = -ESHUTDOWN;
	run("-s @ status", &r);
	assert_int_equal(r.status, 1);
	expect_text("standard error", r.err, "the daemon is stopping");
	fake_reset();
}

static void a_group_is_changed_where_the_options_say(void **state)
{
	struct ran r;

	fake_reset();
	run("-s @ group set kids --lists all --no-types none --block-ttl 7", &r);
	assert_string_equal(r.err, "");
	assert_string_equal(fake.asked, "put group kids {\"clients\":[\"192.168.1.0/25\",\"tablet\"],\"rules\":[\"||games.example^\"],"
			    "\"block\":{\"mode\":\"nxdomain\",\"ttl\":7},\"safe_search\":false,\"no_types\":[],\"schedules\":"
			    "[{\"days\":[\"mon\",\"tue\"],\"from\":\"21:00\",\"to\":\"07:00\",\"lists\":[\"all\"],\"zone\":\"Europe/Berlin\"}]}");
}

static void json_output_is_json(void **state)
{
	struct ran r;
	json_t *o;

	fake_reset();
	run("-s @ --json why blocked.test", &r);
	o = json_loads(r.out, 0, NULL);
	assert_non_null(o);
	json_decref(o);
}

static void write_file(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s", fake_path());
	snprintf(path + strlen(dirname(path)), 64, "/%s", name);
	if (text) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
	} else {
		unlink(path);
	}
}

static int start(void **state)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 16);
	unsigned up;

	assert_true(n > 0);
	program[n] = 0;
	/* build/tests/unit/api/test_millctl -> build/millctl */
	for (up = 0; up < 4; up++)
		*strrchr(program, '/') = 0;
	strcat(program, "/millctl");
	fake_reset();
	api = fake_start();
	write_file("good.yaml", "cache:\n  entries: 1000\n");
	write_file("bad.yaml", "cache:\n  entires: 1000\n");
	write_file("group.json", "{\"lists\": []}");
	write_file("patterns.txt", "/^ads?[0-9]+\\./\n/(/\n");
	write_file("list.txt", "# a list\n0.0.0.0 a.example\n||b.example^\na.example##.ad\na.example\n192.0.2.1 c.example\n");
	write_file("page.txt", "<!DOCTYPE html>\n<html>\n");
	return 0;
}

static int stop(void **state)
{
	api_stop(api);
	write_file("good.yaml", NULL);
	write_file("bad.yaml", NULL);
	write_file("group.json", NULL);
	write_file("list.txt", NULL);
	write_file("patterns.txt", NULL);
	write_file("page.txt", NULL);
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_environment_names_the_socket),
	cmocka_unit_test(a_failed_reload_shows_file_line_and_key),
	cmocka_unit_test(a_daemon_that_stops_is_a_failure),
	cmocka_unit_test(a_group_is_changed_where_the_options_say),
	cmocka_unit_test(json_output_is_json),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest all[COUNT(run_cases) + COUNT(tests)];
	size_t i;

	for (i = 0; i < COUNT(run_cases); i++)
		all[i] = (struct CMUnitTest){ run_cases[i].name, run_row, NULL, NULL, (void *)&run_cases[i] };
	memcpy(all + i, tests, sizeof(tests));
	return _cmocka_run_group_tests("millctl", all, COUNT(all), start, stop);
}
