/* SPDX-License-Identifier: BSD-2-Clause */
/* test_api.c - routes, errors, bounds and streams, over a real socket and a fake control. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "api/request.h"
#include "unit/api/fake.h"

#define V "/api/v1"

static struct api *api;

static int start(void **state)
{
	fake_reset();
	api = fake_start();
	return 0;
}

static int stop(void **state)
{
	api_stop(api);
	api = NULL;
	return 0;
}

/* ---- one request, one expectation ---- */

static const struct ask_case {
	const char *name;
	const char *method;
	const char *path;
	unsigned status;
	const char *member;		/* of the answer */
	const char *value;
} ask_cases[] = {
	{ "the routes are listed",                   "GET", V, 200, "routes.1.path", V "/status" },
	{ "a route is listed with its parameters",   "GET", V, 200, "routes.13.parameters.0.name", "rule" },
	{ "a route is listed with its body",         "GET", V, 200, "routes.12.body", "{ rule: a line as in a list of format adblock, group: }" },
	{ "the daemon says its name",                "GET", V, 200, "name", "millrace" },
	{ "status has the version",                  "GET", V "/status", 200, "version", "9.8.7" },
	{ "status has the pid as a number",          "GET", V "/status", 200, "pid", "42" },
	{ "status shows octets that are no UTF-8",   "GET", V "/status", 200, "config", "/etc/\xef\xbf\xbd.yaml" },
	{ "status has the addresses listened on",    "GET", V "/status", 200, "listen.1", "[::1]:53" },
	{ "status has the upstream servers",         "GET", V "/status", 200, "upstreams.0", "192.0.2.1:53" },
	{ "status has each interface's mode",        "GET", V "/status", 200, "fastpath.interfaces.1.mode", "generic" },
	{ "status has the reason and remedy",        "GET", V "/status", 200, "fastpath.interfaces.1.reason",
	  "no native XDP; use another driver" },
	{ "status has the driver",                   "GET", V "/status", 200, "fastpath.interfaces.0.driver", "veth" },
	{ "status has notes",                        "GET", V "/status", 200, "fastpath.notes.0",
	  "frames grow by at most 230 bytes" },
	{ "status has the layout as 16 hex digits",  "GET", V "/status", 200, "fastpath.layout", "0000000000000abc" },
	{ "numbers above 2^63 are cut",              "GET", V "/status", 200, "filter.entries", "9223372036854775807" },
	{ "status has what waits for the next start", "GET", V "/status", 200, "reloads.waiting.1", "state" },
	{ "status has what is left to the daemon",   "GET", V "/status", 200, "filter.asked", "5000" },
	{ "status has what nobody can tell about",   "GET", V "/status", 200, "filter.untold", "7" },
	{ "status has what was made",                "GET", V "/status", 200, "objects",
	  "{\"in_force\":3,\"left_out\":1,\"why\":\"group mine: managed by file\",\"trouble\":\"\",\"pauses\":1}" },
	{ "status has the durable cache",            "GET", V "/status", 200, "durable",
	  "{\"open\":true,\"loading\":false,\"loaded\":12,\"load_ms\":3,\"bytes\":8192,\"bytes_max\":1048576,"
	  "\"why\":\"\",\"note\":\"it was damaged\"}" },
	{ "lists say where they come from",          "GET", V "/lists", 200, "lists.0.fetch",
	  "{\"url\":\"https://l.example/a\",\"now\":false,\"bytes\":77,\"last_try\":null,\"last_good\":null,\"next_try\":1700000000}" },
	{ "lists have their format",                 "GET", V "/lists", 200, "lists.0.format", "auto" },
	{ "lists have patterns",                     "GET", V "/lists", 200, "lists.0.regex", "2" },
	{ "lists have names kept",                   "GET", V "/lists", 200, "lists.0.names", "13" },
	{ "skipped lines exclude comments",          "GET", V "/lists", 200, "lists.0.skipped", "2" },
	{ "skipped lines have their reason",         "GET", V "/lists", 200, "lists.0.reasons.cosmetic.lines", "2" },
	{ "skipped lines have examples",             "GET", V "/lists", 200, "lists.0.reasons.cosmetic.examples.0.line", "7" },
	{ "counters are named by their rows",        "GET", V "/stats", 200, "kernel.counters.blocked.value", "300" },
	{ "counters say their kind",                 "GET", V "/stats", 200, "kernel.counters.pass_miss.kind", "pass" },
	{ "marks are marks",                         "GET", V "/stats", 200, "kernel.counters.packets.kind", "mark" },
	{ "counters have their help",                "GET", V "/stats", 200, "kernel.counters.blocked.help",
	  "answered: blocked by the filter" },
	{ "the answered are summed",                 "GET", V "/stats", 200, "kernel.answered", "900" },
	{ "the passed are summed",                   "GET", V "/stats", 200, "kernel.passed", "200" },
	{ "the passed DNS leaves out the rest",      "GET", V "/stats", 200, "kernel.passed_dns", "100" },
	{ "the share answered is of DNS",            "GET", V "/stats", 200, "kernel.answered_share", "0.90000000000000002" },
	{ "user space counters are there",           "GET", V "/stats", 200, "daemon.counters.api_requests.help",
	  "requests to the admin API" },
	{ "latency has buckets with bounds",         "GET", V "/stats", 200, "latency.blocked.buckets.0",
	  "{\"from_ns\":256,\"below_ns\":512,\"samples\":100}" },
	{ "latency has a median",                    "GET", V "/stats", 200, "latency.blocked.p50_ns", "384" },
	{ "latency has a 99th percentile",           "GET", V "/stats", 200, "latency.blocked.p99_ns", "509" },
	{ "latency has a mean",                      "GET", V "/stats", 200, "latency.blocked.mean_ns", "300" },
	{ "latency without samples is 0",            "GET", V "/stats", 200, "latency.cached.p99_ns", "0" },
	{ "upstreams have their strategy",           "GET", V "/upstreams", 200, "strategy", "parallel_best" },
	{ "upstreams have bounds",                   "GET", V "/upstreams", 200, "in_flight_max", "8192" },
	{ "an upstream has its state",               "GET", V "/upstreams", 200, "upstreams.0.state", "failed" },
	{ "an upstream has its address",             "GET", V "/upstreams", 200, "upstreams.0.address", "192.0.2.1:53" },
	{ "an upstream has its latency",             "GET", V "/upstreams", 200, "upstreams.0.latency_us", "12345" },
	{ "an upstream has errors by kind",          "GET", V "/upstreams", 200, "upstreams.0.errors.timeout", "90" },
	{ "an upstream has its last reason",         "GET", V "/upstreams", 200, "upstreams.0.last_error.why", "no answer" },
	{ "an upstream has its zones",               "GET", V "/upstreams", 200, "upstreams.0.used_for.1", "corp.example" },
	{ "an upstream may be unresolved",           "GET", V "/upstreams", 200, "upstreams.1.state", "unresolved" },
	{ "memory has each map",                     "GET", V "/memory", 200, "maps.1.name", "mr_answers" },
	{ "memory is summed over maps",              "GET", V "/memory", 200, "maps_bytes", "4194304" },
	{ "why has the question",                    "GET", V "/why?name=www.Example.com&type=aaaa&client=fd00::1", 200,
	  "question", "{\"name\":\"www.Example.com\",\"type\":\"AAAA\",\"client\":\"fd00::1\",\"edns\":true,\"dnssec_ok\":false}" },
	{ "why takes the name of a client",          "GET", V "/why?name=a.test&client=tablet", 200, "question.client", "192.168.1.7" },
	{ "why takes a hardware address",            "GET", V "/why?name=a.test&client=mac:02:00:00:00:00:01", 200, "question.mac",
	  "mac:02:00:00:00:00:01" },
	{ "a client that is not known is refused",   "GET", V "/why?name=a.test&client=nobody", 400, "error.where", "client" },
	{ "status shows what is not in force",       "GET", V "/status", 200, "left_out.1",
	  "{\"kind\":\"rule\",\"name\":\"||x^$y\",\"origin\":\"file\",\"why\":\"no such modifier\"}" },
	{ "why defaults to A and 127.0.0.1",         "GET", V "/why?name=a.test", 200, "question.client", "127.0.0.1" },
	{ "why can ask without EDNS",                "GET", V "/why?name=a.test&edns=none", 200, "question.edns", "false" },
	{ "why can ask with DNSSEC OK",              "GET", V "/why?name=a.test&edns=do", 200, "question.dnssec_ok", "true" },
	{ "why has the kernel's counter",            "GET", V "/why?name=a.test", 200, "kernel.stat.name", "cached" },
	{ "why has the kernel's nanoseconds",        "GET", V "/why?name=a.test", 200, "kernel.ns", "312" },
	{ "why has the set of a chain",              "GET", V "/why?name=link.test", 200, "kernel.chain_set", "9" },
	{ "why has no entry for a chain",            "GET", V "/why?name=link.test", 200, "kernel.entry", "null" },
	{ "why has the link that decided",           "GET", V "/why?name=link.test", 200, "daemon.link", "to.out" },
	{ "why without a link has null",             "GET", V "/why?name=blocked.test", 200, "daemon.link", "null" },
	{ "why says that the daemon knows the pause", "GET", V "/why?name=paused.test", 200, "daemon.paused", "true" },
	{ "why has what a schedule keeps out",       "GET", V "/why?name=paused.test", 200, "daemon.closed", "starter, group:kids" },
	{ "why without a schedule has null",         "GET", V "/why?name=blocked.test", 200, "daemon.closed", "null" },
	{ "why says that a client is paused",        "GET", V "/why?name=paused.test", 200, "kernel.paused", "true" },
	{ "why has the kernel's entry",              "GET", V "/why?name=blocked.test", 200, "kernel.entry", "0x0000000000001234" },
	{ "why has null for no entry",               "GET", V "/why?name=a.test", 200, "kernel.entry", "null" },
	{ "why has the list",                        "GET", V "/why?name=blocked.test", 200, "kernel.list", "starter" },
	{ "why has the rule",                        "GET", V "/why?name=blocked.test", 200, "daemon.rule", "||blocked.test^" },
	{ "why has its line",                        "GET", V "/why?name=blocked.test", 200, "daemon.line", "12" },
	{ "why has the step",                        "GET", V "/why?name=blocked.test", 200, "daemon.step", "name" },
	{ "why without a rule has null",             "GET", V "/why?name=a.test", 200, "daemon.rule", "null" },
	{ "why has the verdict",                     "GET", V "/why?name=blocked.test", 200, "daemon.verdict", "block" },
	{ "why has the daemon's source",             "GET", V "/why?name=a.test", 200, "daemon.source", "cache" },
	{ "why has the reply's octets",              "GET", V "/why?name=a.test&type=A", 200, "kernel.reply.hex",
	  "00008180000100020000000001610474657374000001000"
	  "1c00c000100010000000a0004c0000231c00c000100010000000a0004c0000232" },
	{ "why without kernel says why not",         "GET", V "/why?name=off.test", 200, "kernel.error", "the fast path is off" },
	{ "why says that no answer came",            "GET", V "/why?name=late.test", 200, "daemon.error", "no answer in time" },
	{ "why needs a name",                        "GET", V "/why", 400, "error.where", "name" },
	{ "a missing parameter is said",             "GET", V "/why", 400, "error.what", "the parameter \"name\" is missing" },
	{ "a bad name is refused",                   "GET", V "/why?name=a..b", 400, "error.where", "name" },
	{ "a label of 64 octets is refused",         "GET", V "/why?name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	  400, "error.where", "name" },
	{ "a bad client is refused",                 "GET", V "/why?name=a.test&client=1.2.3", 400, "error.expected",
	  "an IPv4 or IPv6 address, mac:02:00:00:00:00:01 or the name of a client; 127.0.0.1 when not given" },
	{ "a client with a port is refused",         "GET", V "/why?name=a.test&client=1.2.3.4:5", 400, "error.where", "client" },
	{ "a bad type is refused",                   "GET", V "/why?name=a.test&type=NONSENSE", 400, "error.where", "type" },
	{ "a bad edns is refused",                   "GET", V "/why?name=a.test&edns=1", 400, "error.where", "edns" },
	{ "an unknown parameter is refused",         "GET", V "/why?name=a.test&tpye=A", 400, "error.where", "tpye" },
	{ "an unknown parameter names the known",    "GET", V "/why?name=a.test&tpye=A", 400, "error.expected",
	  "name, client, type, edns" },
	{ "a route without parameters takes none",   "GET", V "/status?x=1", 400, "error.expected", "no parameters" },
	{ "a parameter given twice is refused",      "GET", V "/why?name=a.test&name=b.test", 400, "error.what",
	  "the parameter \"name\" is given twice" },
	{ "an empty parameter is refused",           "GET", V "/why?name=", 400, "error.what", "the parameter \"name\" is empty" },
	{ "a zero byte in the path is refused",      "GET", V "/status%00x", 400, "error.what", "the path holds a zero byte" },
	{ "a zero byte is refused",                  "GET", V "/why?name=a%00b", 400, "error.what",
	  "the parameter \"name\" holds a zero byte" },
	{ "an unknown path is not found",            "GET", V "/nothing", 404, "error.where", V "/nothing" },
	{ "not found shows the routes",              "GET", "/", 404, "error.routes.2.path", V "/stats" },
	{ "a path with a slash behind is not found", "GET", V "/status/", 404, "error.status", "404" },
	{ "a wrong method is refused",               "DELETE", V "/status", 405, "error.expected", "GET" },
	{ "GET does not flush",                      "GET", V "/flush", 405, "error.expected", "POST" },
	{ "GET does not reload",                     "GET", V "/reload", 405, "error.expected", "POST" },
	{ "a flush counts the kernel's",             "POST", V "/flush?name=a.test", 200, "kernel", "3" },
	{ "a flush counts the cache's",              "POST", V "/flush?name=a.test", 200, "cache", "5" },
	{ "a flush of everything has no name",       "POST", V "/flush", 200, "name", "null" },
	{ "a flush below a name says so",            "POST", V "/flush?name=*.a.test", 200, "below", "true" },
	{ "and which name",                          "POST", V "/flush?name=*.a.test", 200, "name", "a.test" },
	{ "a flush of a name alone says so",         "POST", V "/flush?name=a.test", 200, "below", "false" },
	{ "below nothing nothing is flushed",        "POST", V "/flush?name=*.a..b", 400, "error.where", "name" },
	{ "the cache says how full it is",           "GET", V "/cache", 200, "entries", "1200" },
	{ "the cache says its bound",                "GET", V "/cache", 200, "bytes_max", "134217728" },
	{ "the cache says how often it knows",       "GET", V "/cache", 200, "hit_share", "0.90000000000000002" },
	{ "the cache says what was below a cut",     "GET", V "/cache", 200, "covered", "7" },
	{ "the cache says what is in the kernel",    "GET", V "/cache", 200, "kernel.answers", "11" },
	{ "the cache says whether all is down",      "GET", V "/cache", 200, "upstreams_down", "true" },
	{ "what is kept of a name",                  "GET", V "/cache/answers?name=A.test", 200, "name", "a.test" },
	{ "how long it lives",                       "GET", V "/cache/answers?name=a.test", 200, "answers.0.ttl", "200" },
	{ "its state",                               "GET", V "/cache/answers?name=a.test", 200, "answers.0.state", "live" },
	{ "whether the kernel has it",               "GET", V "/cache/answers?name=a.test", 200, "answers.0.kernel", "true" },
	{ "what is over",                            "GET", V "/cache/answers?name=a.test", 200, "answers.1.state", "stale" },
	{ "what covers all below",                   "GET", V "/cache/answers?name=a.test", 200, "answers.1.covers_below", "true" },
	{ "that it is for DNSSEC",                   "GET", V "/cache/answers?name=a.test", 200, "answers.1.dnssec_ok", "true" },
	{ "that renewing it failed",                 "GET", V "/cache/answers?name=a.test", 200, "answers.1.renewal_failed", "true" },
	{ "nothing is kept of a name",               "GET", V "/cache/answers?name=unknown.test", 200, "answers", "[]" },
	{ "no name, nothing kept",                   "GET", V "/cache/answers", 400, "error.where", "name" },
	{ "a bad name has nothing kept",             "GET", V "/cache/answers?name=..", 400, "error.where", "name" },
	{ "a bad name is not flushed",               "POST", V "/flush?name=..", 400, "error.where", "name" },
	{ "a reload is confirmed",                   "POST", V "/reload", 200, "reloaded", "true" },
};

static const struct fail_case {
	struct ask_case ask;
	int error;			/* control's */
} fail_cases[] = {
	{ { "a stopping daemon is unavailable",        "GET", V "/status", 503, "error.what",
	    "no status: the daemon is stopping" }, -ESHUTDOWN },
	{ { "statistics may be unavailable",           "GET", V "/stats", 503, "error.status", "503" }, -ESHUTDOWN },
	{ { "memory may be unavailable",               "GET", V "/memory", 503, "error.status", "503" }, -ESHUTDOWN },
	{ { "lists may be unavailable",                "GET", V "/lists", 503, "error.status", "503" }, -ESHUTDOWN },
	{ { "why may take too long",                   "GET", V "/why?name=a.test", 503, "error.status", "503" }, -ETIMEDOUT },
	{ { "a flush may fail",                        "POST", V "/flush", 500, "error.status", "500" }, -EIO },
	{ { "a tail may be one too many",              "GET", V "/tail", 503, "error.what",
	    "no tail: as many are open as there may be" }, -EBUSY },
};

static void expect(const struct ask_case *c)
{
	json_t *o = NULL;
	char buf[8192];

	assert_int_equal(ask(c->method, c->path, &o), c->status);
	assert_non_null(o);
	assert_string_equal(at(o, c->member, buf, sizeof(buf)), c->value);
	json_decref(o);
}

static void run_ask(void **state)
{
	fake_reset();
	expect(*state);
}

static void run_fail(void **state)
{
	const struct fail_case *c = *state;

	fake_reset();
	fake.error = c->error;
	expect(&c->ask);
	fake_reset();
}

/* ---- actions ---- */

static void a_flushed_name_arrives_in_lower_case_wire_form(void **state)
{
	assert_int_equal(ask("POST", V "/flush?name=WWW.Test.", NULL), 200);
	assert_int_equal(fake.name_len, 10);
	assert_memory_equal(fake.name, "\3www\4test", 10);
	assert_false(fake.flushed_all);
	assert_int_equal(ask("POST", V "/flush", NULL), 200);
	assert_true(fake.flushed_all);
}

static void why_asks_what_was_said(void **state)
{
	assert_int_equal(ask("GET", V "/why?name=WWW.Test&type=TYPE65&client=192.0.2.9&edns=do", NULL), 200);
	assert_memory_equal(fake.name, "\3WWW\4Test", 10);
	assert_int_equal(fake.why.qtype, 65);
	assert_true(fake.why.edns && fake.why.dnssec_ok);
	assert_true(addr_is_v4(&fake.why.client));
	assert_int_equal(fake.why.client.ip[15], 9);
}

static void a_failed_reload_says_file_line_key_and_why(void **state)
{
	json_t *o = NULL;
	char buf[512];

	fake_reset();
	fake.reload_error = -EINVAL;
	err_where(&fake.reload_at, "/etc/millrace/millrace.yaml", 12, "server.port");
	err_why(&fake.reload_at, 0, "no such key");
	assert_int_equal(ask("POST", V "/reload", &o), 422);
	assert_string_equal(at(o, "error.file", buf, sizeof(buf)), "/etc/millrace/millrace.yaml");
	assert_string_equal(at(o, "error.line", buf, sizeof(buf)), "12");
	assert_string_equal(at(o, "error.key", buf, sizeof(buf)), "server.port");
	assert_string_equal(at(o, "error.why", buf, sizeof(buf)), "no such key");
	json_decref(o);
}

/* ---- the documents ---- */

/* The text of a file of the tree (tests run in its root); NULL when it is not there. */
static char *document(const char *path)
{
	size_t size = 1 << 20, n;
	FILE *f = fopen(path, "r");
	char *text = f ? malloc(size) : NULL;

	if (!f)
		return NULL;
	assert_non_null(text);
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

/* The part of the document about a path, cut out; NULL when there is none. */
static char *path_part(const char *text, const char *path)
{
	char want[128];
	const char *at, *end;

	snprintf(want, sizeof(want), "\n  %s:\n", *path ? path : "/");
	at = strstr(text, want);
	if (!at)
		return NULL;
	at += strlen(want) - 1;
	end = strstr(at, "\n  /");
	if (!end)
		end = strstr(at, "\ncomponents:");
	return strndup(at, (size_t)(end - at));
}

static const char *lower_method(const char *method)
{
	return !strcmp(method, "GET") ? "get" : !strcmp(method, "POST") ? "post" : !strcmp(method, "PUT") ? "put" : !strcmp(method, "PATCH") ? "patch" :
	       "delete";
}

static void find_route(const char *part, const struct api_route *r)
{
	const char *at, *next;
	char want[128];
	unsigned i;

	snprintf(want, sizeof(want), "\n    %s:\n", lower_method(r->method));
	at = strstr(part, want);
	if (!at)
		fail_msg("docs/openapi.yaml lacks %s %s", r->method, r->path);
	next = strstr(at + strlen(want), "\n        default:");
	for (i = 0; i < API_PARAMS_MAX && r->param[i].name; i++) {
		snprintf(want, sizeof(want), "        - { name: %s, in: query, %s", r->param[i].name,
			 r->param[i].required ? "required: true" : "schema");
		at = strstr(at, want);
		if (!at)
			fail_msg("docs/openapi.yaml lacks: %s of %s %s", want, r->method, r->path);
	}
	at = strstr(at, "requestBody");
	if (r->body ? !at || at > next : at && at < next)
		fail_msg("%s %s: docs/openapi.yaml and the table are not of one mind about a body", r->method, r->path);
}

/* Every path, method, parameter and body of the table is in docs/openapi.yaml. */
static void every_route_is_described(void **state)
{
	char *text = document("docs/openapi.yaml"), *part;
	const struct api_route *r;

	if (!text)
		skip();
	for (r = api_routes; r->method; r++) {
		part = path_part(text, r->path + strlen(API_PREFIX));
		if (!part)
			fail_msg("docs/openapi.yaml lacks %s", r->path);
		find_route(part, r);
		free(part);
	}
	free(text);
}

static int take_name(void *arg, const struct rule_item *item)
{
	return 1;
}

static void the_starter_list_is_names_and_comments_alone(void **state)
{
	char *text = document("tools/packaging/lists/starter.txt");
	struct list_report r = { 0 };
	unsigned i;

	if (!text)
		skip();
	assert_int_equal(list_parse(text, strlen(text), LIST_AUTO, false, take_name, NULL, &r), 0);
	for (i = 0; i < LIST_SKIP_COUNT; i++)
		if (i != LIST_SKIP_empty && r.skipped[i])
			fail_msg("line %u: %s", (unsigned)r.example[i][0].line, list_skip_texts[i]);
	assert_in_range(r.exact + r.subtree, 50, 100);
	assert_int_equal(r.allow, 0);
	free(text);
}

/* ---- raw requests ---- */

static int raw_connect(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct timeval wait = { .tv_sec = 10 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", fake_path());
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* Send and read until the other side closes or @until is there; the length read. */
static size_t raw(const char *text, size_t len, const char *until, char *buf, size_t size)
{
	int fd = raw_connect();
	size_t got = 0;
	ssize_t n;

	/* The other side may end before it has read all. */
	while (len > 0 && (n = send(fd, text, len, MSG_NOSIGNAL)) > 0) {
		text += n;
		len -= (size_t)n;
	}
	buf[0] = 0;
	while (got + 1 < size && !(until && strstr(buf, until)) && (n = recv(fd, buf + got, size - got - 1, 0)) > 0) {
		got += (size_t)n;
		buf[got] = 0;
	}
	close(fd);
	return got;
}

static void a_wrong_method_names_the_right_one_in_allow(void **state)
{
	const char *q = "PUT " V "/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	char buf[8192];

	raw(q, strlen(q), NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, " 405 "));
	assert_non_null(strstr(buf, "\r\nAllow: GET\r\n"));
	assert_non_null(strstr(buf, "\r\nContent-Type: application/json\r\n"));
}

static void a_body_is_refused(void **state)
{
	const char *q = "POST " V "/flush HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
	char buf[8192];

	fake_reset();
	raw(q, strlen(q), NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, " 400 "));
	assert_non_null(strstr(buf, "this one had 5 bytes"));
	assert_false(fake.flushed_all);
}

static void a_body_that_says_it_is_too_long_is_not_waited_for(void **state)
{
	const char *q = "POST " V "/rules HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n";
	char buf[4096];

	fake_reset();
	raw(q, strlen(q), "too long", buf, sizeof(buf));
	assert_non_null(strstr(buf, " 413 "));
	assert_string_equal(fake.kind, "");
}

static void a_body_that_turns_out_too_long_ends_the_connection(void **state)
{
	size_t size = 2 << 20, n, at;
	char *q = malloc(size + 64), buf[4096];

	n = (size_t)snprintf(q, size, "POST " V "/rules HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (at = n; at + 4096 + 8 < size; at += 4096 + 8) {
		memcpy(q + at, "1000\r\n", 6);
		memset(q + at + 6, ' ', 4096);
		memcpy(q + at + 6 + 4096, "\r\n", 2);
	}
	fake_reset();
	assert_int_equal(raw(q, at, NULL, buf, sizeof(buf)), 0);
	assert_string_equal(fake.kind, "");
	free(q);
}

static void headers_without_end_are_cut_off(void **state)
{
	size_t size = 200000, n;
	char *q = malloc(size), buf[4096];

	n = (size_t)snprintf(q, size, "GET " V "/status HTTP/1.1\r\nHost: x\r\nX: ");
	memset(q + n, 'x', size - n);
	raw(q, size, NULL, buf, sizeof(buf));
	assert_true(!*buf || strstr(buf, "HTTP/1.1 4"));
	free(q);
	assert_int_equal(ask("GET", V, NULL), 200);
}

static void what_is_not_http_does_no_harm(void **state)
{
	static const char q[] = "\0\1\2\3 \r\n\r\n\xff\xff\xff";
	int fd = raw_connect();

	assert_int_equal(send(fd, q, sizeof(q), 0), sizeof(q));
	shutdown(fd, SHUT_WR);
	assert_int_equal(ask("GET", V, NULL), 200);
	close(fd);
	assert_int_equal(ask("GET", V, NULL), 200);
}

static void connection_257_is_closed_and_counted(void **state)
{
	int fd[257];
	char buf[64], was[32], is[32];
	json_t *o = NULL;
	unsigned i;

	ask("GET", V "/stats", &o);
	at(o, "daemon.counters.api_refused.value", was, sizeof(was));
	json_decref(o);
	usleep(100000);			/* that connection's end is seen a moment later */
	for (i = 0; i < 257; i++)
		fd[i] = raw_connect();
	assert_int_equal(recv(fd[256], buf, sizeof(buf), 0), 0);
	for (i = 0; i < 257; i++)
		close(fd[i]);
	usleep(200000);
	assert_int_equal(ask("GET", V "/stats", &o), 200);
	at(o, "daemon.counters.api_refused.value", is, sizeof(is));
	json_decref(o);
	assert_int_equal(atoi(is), atoi(was) + 1);
}

/* ---- tail ---- */

static void wait_for(atomic_int *what, int value)
{
	unsigned i;

	for (i = 0; i < 500 && atomic_load(what) != value; i++)
		usleep(10000);
	assert_int_equal(atomic_load(what), value);
}

static const char tail_request[] = "GET " V "/tail HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

static void a_tail_gives_one_object_a_line_and_ends_with_the_daemon(void **state)
{
	char buf[8192];
	const char *line;
	json_t *o;

	fake_reset();
	fake.events = 2;
	fake.end = true;
	raw(tail_request, strlen(tail_request), NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, "\r\nContent-Type: application/x-ndjson\r\n"));
	line = strstr(buf, "{\"time\"");
	assert_non_null(line);
	o = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
	assert_string_equal(json_string_value(json_object_get(o, "time")), "2023-11-14T22:13:20.123456Z");
	assert_string_equal(json_string_value(json_object_get(o, "name")), "ads.com");
	assert_string_equal(json_string_value(json_object_get(o, "type")), "AAAA");
	assert_string_equal(json_string_value(json_object_get(o, "rcode")), "NXDOMAIN");
	assert_string_equal(json_string_value(json_object_get(o, "client")), "192.0.2.77");
	assert_string_equal(json_string_value(json_object_get(o, "by")), "kernel");
	json_decref(o);
	assert_non_null(strstr(line, "}\n"));
	line = strstr(line + 1, "{\"time\"");
	assert_non_null(line);
	assert_non_null(strstr(line, "\"by\":\"daemon\""));
	wait_for(&fake.tails_closed, 1);
}

static void a_slow_reader_is_told_what_it_lost(void **state)
{
	char buf[8192];

	fake_reset();
	fake.events = 1;
	fake.lost = 17;
	fake.end = true;
	raw(tail_request, strlen(tail_request), NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, "{\"lost\":17}\n"));
}

static void a_tail_ends_with_its_client(void **state)
{
	char buf[4096];

	fake_reset();
	fake.events = 1;
	raw(tail_request, strlen(tail_request), "ads.com", buf, sizeof(buf));
	assert_non_null(strstr(buf, "ads.com"));
	wait_for(&fake.tails_closed, 1);
	assert_int_equal(atomic_load(&fake.tails), 0);
}

static void the_ninth_tail_is_refused(void **state)
{
	char buf[4096];
	int fd[8], i;

	fake_reset();
	for (i = 0; i < 8; i++) {
		fd[i] = raw_connect();
		assert_true(send(fd[i], tail_request, strlen(tail_request), 0) > 0);
	}
	wait_for(&fake.tails, 8);
	raw(tail_request, strlen(tail_request), NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, " 503 "));
	for (i = 0; i < 8; i++)
		close(fd[i]);
	wait_for(&fake.tails, 0);
}

/* ---- the socket, the life ---- */

static void the_socket_is_for_owner_and_group(void **state)
{
	struct stat st;

	assert_int_equal(lstat(fake_path(), &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0660);
}

static int start_at(const char *path, struct err_at *at)
{
	struct api *second = NULL;
	int err = api_start((struct control *)&fake, path, (uid_t)-1, (gid_t)-1, &second, at);

	api_stop(second);
	return err;
}

static void a_living_socket_is_not_taken(void **state)
{
	struct err_at at = { .why = "" };

	assert_int_equal(start_at(fake_path(), &at), -EADDRINUSE);
	assert_string_equal(at.file, fake_path());
	assert_string_equal(at.why, "another daemon answers there");
	assert_int_equal(ask("GET", V, NULL), 200);
}

static void a_socket_left_behind_is_replaced(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct err_at at = { .why = "" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s.2", fake_path());
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	close(fd);
	assert_int_equal(access(sa.sun_path, F_OK), 0);
	assert_int_equal(start_at(sa.sun_path, &at), 0);
	assert_int_equal(access(sa.sun_path, F_OK), -1);
}

static void a_file_in_the_place_is_left_alone(void **state)
{
	struct err_at at = { .why = "" };
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s.txt", fake_path());
	f = fopen(path, "w");
	fclose(f);
	assert_int_equal(start_at(path, &at), -EADDRINUSE);
	assert_int_equal(unlink(path), 0);
}

static void a_path_too_long_is_refused(void **state)
{
	struct err_at at = { .why = "" };
	char path[200];

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	assert_int_equal(start_at(path, &at), -ENAMETOOLONG);
}

static void a_missing_folder_is_said(void **state)
{
	struct err_at at = { .why = "" };

	assert_int_equal(start_at("/nonexistent/api.sock", &at), -ENOENT);
	assert_string_equal(at.file, "/nonexistent/api.sock");
	assert_non_null(strstr(at.why, "No such file"));
}

static void stopping_removes_the_socket(void **state)
{
	api_stop(api);
	api = NULL;
	assert_int_equal(access(fake_path(), F_OK), -1);
	fake_reset();
	api = fake_start();
}

static void stopping_ends_tails(void **state)
{
	int fd = raw_connect();
	char buf[4096];
	size_t got = 0;
	ssize_t n;

	fake_reset();
	assert_true(send(fd, tail_request, strlen(tail_request), 0) > 0);
	wait_for(&fake.tails, 1);
	api_stop(api);
	assert_int_equal(atomic_load(&fake.tails_closed), 1);
	while (got + 1 < sizeof(buf) && (n = recv(fd, buf + got, sizeof(buf) - got - 1, 0)) > 0)
		got += (size_t)n;
	buf[got] = 0;
	/* the last chunk is there: an end, not a break */
	assert_non_null(strstr(buf, "\r\n0\r\n\r\n"));
	close(fd);
	fake_reset();
	api = fake_start();
}

static void stopping_does_not_wait_for_a_tail_that_nobody_reads(void **state)
{
	int fd = raw_connect();

	fake_reset();
	fake.events = 1 << 30;
	assert_true(send(fd, tail_request, strlen(tail_request), 0) > 0);
	wait_for(&fake.tails, 1);
	usleep(300000);			/* the socket's buffer is full by now */
	api_stop(api);
	assert_int_equal(atomic_load(&fake.tails_closed), 1);
	close(fd);
	fake_reset();
	api = fake_start();
}

static void stopping_does_not_wait_for_who_waits_for_us(void **state)
{
	const char *q = "GET " V "/status HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = raw_connect();

	fake_reset();
	fake.block = true;
	assert_true(send(fd, q, strlen(q), 0) > 0);
	wait_for(&fake.waiting, 1);
	api_stop(api);
	close(fd);
	fake_reset();
	api = fake_start();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_flushed_name_arrives_in_lower_case_wire_form),
	cmocka_unit_test(why_asks_what_was_said),
	cmocka_unit_test(a_failed_reload_says_file_line_key_and_why),
	cmocka_unit_test(every_route_is_described),
	cmocka_unit_test(the_starter_list_is_names_and_comments_alone),
	cmocka_unit_test(a_wrong_method_names_the_right_one_in_allow),
	cmocka_unit_test(a_body_is_refused),
	cmocka_unit_test(a_body_that_says_it_is_too_long_is_not_waited_for),
	cmocka_unit_test(a_body_that_turns_out_too_long_ends_the_connection),
	cmocka_unit_test(headers_without_end_are_cut_off),
	cmocka_unit_test(what_is_not_http_does_no_harm),
	cmocka_unit_test(connection_257_is_closed_and_counted),
	cmocka_unit_test(a_tail_gives_one_object_a_line_and_ends_with_the_daemon),
	cmocka_unit_test(a_slow_reader_is_told_what_it_lost),
	cmocka_unit_test(a_tail_ends_with_its_client),
	cmocka_unit_test(the_ninth_tail_is_refused),
	cmocka_unit_test(the_socket_is_for_owner_and_group),
	cmocka_unit_test(a_living_socket_is_not_taken),
	cmocka_unit_test(a_socket_left_behind_is_replaced),
	cmocka_unit_test(a_file_in_the_place_is_left_alone),
	cmocka_unit_test(a_path_too_long_is_refused),
	cmocka_unit_test(a_missing_folder_is_said),
	cmocka_unit_test(stopping_removes_the_socket),
	cmocka_unit_test(stopping_ends_tails),
	cmocka_unit_test(stopping_does_not_wait_for_a_tail_that_nobody_reads),
	cmocka_unit_test(stopping_does_not_wait_for_who_waits_for_us),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest all[COUNT(ask_cases) + COUNT(fail_cases) + COUNT(tests)], *to = all;
	size_t i;

	for (i = 0; i < COUNT(ask_cases); i++)
		*to++ = (struct CMUnitTest){ ask_cases[i].name, run_ask, NULL, NULL, (void *)&ask_cases[i] };
	for (i = 0; i < COUNT(fail_cases); i++)
		*to++ = (struct CMUnitTest){ fail_cases[i].ask.name, run_fail, NULL, NULL, (void *)&fail_cases[i] };
	memcpy(to, tests, sizeof(tests));
	return _cmocka_run_group_tests("api", all, COUNT(all), start, stop);
}
