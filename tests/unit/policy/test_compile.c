/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_compile.c - texts in, a filter with its rules out, as files and back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "policy/rule_pack.h"
#include "policy/rules_room.h"
#include "unit/policy/court.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

#define A    1
#define AAAA 28

static char rules_path[112];

static int begin(void **state)
{
	int err = setup(state);

	snprintf(rules_path, sizeof(rules_path), "%s/rules", folder);
	return err;
}

static int end(void **state)
{
	unlink(rules_path);
	return teardown(state);
}

/* ---- lists and rules ---- */

static void list_counts_what_it_has_twice(void **state)
{
	static const char list[] = "a.example\nb.example\na.example\n||c.example^\n||c.example^\n@@||d.example^\n@@||d.example^\nb.example\n";
	struct list_report *r = calloc(2, sizeof(*r));
	struct compile *c = compile_new(&secret);

	assert_non_null(r);
	assert_int_equal(compile_list(c, 0, list, sizeof(list) - 1, LIST_AUTO, false, &r[0]), 0);
	assert_int_equal(r[0].lines, 8);
	assert_int_equal(r[0].exact, 2);
	assert_int_equal(r[0].subtree, 1);
	assert_int_equal(r[0].allow, 1);
	assert_int_equal(r[0].duplicates, 4);
	/* what another list has is no duplicate */
	assert_int_equal(compile_list(c, 1, list, sizeof(list) - 1, LIST_AUTO, true, &r[1]), 0);
	assert_int_equal(r[1].exact + r[1].subtree, 0);
	assert_int_equal(r[1].allow, 4);
	assert_int_equal(r[1].duplicates, 4);
	compile_free(c);
	free(r);
}

/* @n lines of "address nN.sink.example", then @others of another address. */
static char *sink_list(const char *form, unsigned n, unsigned others, size_t *ret_size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_size);
	unsigned i;

	assert_non_null(f);
	fputs("# a list\n127.0.0.1 localhost\n", f);
	for (i = 0; i < n; i++)
		fprintf(f, form, i);
	for (i = 0; i < others; i++)
		fprintf(f, "10.0.%u.%u other%u.example\n", i / 250, i % 250 + 1, i);
	fclose(f);
	return text;
}

static const struct sunk {
	const char *name, *form, *sink;
	unsigned lines, others;
	bool allow, is_sink;
} sunks[] = {
	{ "200,000 names on one address are blocked", "192.168.1.1 n%u.sink.example\n", "::ffff:192.168.1.1", 200000, 5, false, true },
	{ "a sink of IPv6", "fd00::1 n%u.sink.example\n", "fd00::1", 2000, 0, false, true },
	{ "a sink of dnsmasq", "address=/n%u.sink.example/10.0.0.1\n", "::ffff:10.0.0.1", 2000, 0, false, true },
	{ "a thousand names are no sink", "192.168.1.1 n%u.sink.example\n", "", 1000, 0, false, false },
	{ "one more are", "192.168.1.1 n%u.sink.example\n", "::ffff:192.168.1.1", 1001, 0, false, true },
	{ "nine tenths of the lines are no sink", "192.168.1.1 n%u.sink.example\n", "", 1800, 199, false, false },
	{ "one more of them are", "192.168.1.1 n%u.sink.example\n", "::ffff:192.168.1.1", 1801, 199, false, true },
	{ "a list of what is allowed needs no sink", "192.168.1.1 n%u.sink.example\n", "", 2000, 0, true, false },
};

static void sink_of_a_list_is_found(void **state)
{
	struct list_report *r = calloc(1, sizeof(*r));
	const struct sunk *t = *state;
	struct compile *c = compile_new(&secret);
	struct in6_addr want = { 0 };
	size_t size;
	char *text = sink_list(t->form, t->lines, t->others, &size);

	assert_int_equal(compile_list(c, 0, text, size, LIST_AUTO, t->allow, r), 0);
	assert_int_equal(r->sunk, t->is_sink ? t->lines : 0);
	assert_int_equal(r->exact + r->subtree, t->is_sink ? t->lines : 0);
	assert_int_equal(r->rewrite, t->allow ? 0 : t->is_sink ? t->others : t->lines + t->others);
	assert_int_equal(r->skipped[LIST_SKIP_full], 0);
	if (t->is_sink)
		assert_int_equal(inet_pton(AF_INET6, t->sink, &want), 1);
	assert_memory_equal(r->sink, &want, sizeof(want));
	compile_free(c);
	free(text);
	free(r);
}

static const struct written {
	const char *name, *text;
	int err;
	const char *why;
} written[] = {
	{ "plain name is a rule", "ads.example", 0, NULL },
	{ "subtree is a rule", "||ads.example^", 0, NULL },
	{ "exception is a rule", "@@||ads.example^", 0, NULL },
	{ "empty rule", "", -EINVAL, "empty" },
	{ "comment as a rule", "! nothing", -EINVAL, "comment" },
	{ "rule for page elements", "example.com##.ad", -EINVAL, "page elements" },
	{ "no name", "no_name_", -EINVAL, "single label" },
	{ "pattern that does not compile", "/ads(/", -EINVAL, "column 6, the end: missing closing parenthesis" },
	{ "pattern is a rule", "/^ads[0-9]+\\./", 0, NULL },
	{ "rule with a modifier that is not known", "||ads.example^$third-party", -EINVAL, "not known" },
	{ "the modifier that is not known is named", "||ads.example^$important,third-party", -EINVAL, "column 26, \"third-party\": " },
	{ "modifiers that there are are named", "||ads.example^$x", -EINVAL, "expected important, badfilter, dnsrewrite=, dnstype=" },
	{ "a modifier without a value wants none", "||ads.example^$important=1", -EINVAL, "column 16, \"important=1\": " },
	{ "a bad value names its modifier", "||ads.example^$dnstype=FOO", -EINVAL, "expected dnstype= once, with types" },
	{ "a bad rewrite says what may be answered", "||ads.example^$dnsrewrite=BAD", -EINVAL, "column 16, \"dnsrewrite=BAD\": a rewrite" },
	{ "the octet that no name has is named", "||example.com/path", -EINVAL, "column 14, \"/\": " },
	{ "the octet is named in a bare name too", "ads.exa%mple", -EINVAL, "column 8, \"%\": " },
	{ "an empty label is named", "a..b.example", -EINVAL, "column 3, \".\": not a name" },
	{ "a label with a hyphen in front is named", "a.-b.example", -EINVAL, "column 3, \"-b\": " },
	{ "a top label of digits is named", "||a.1^", -EINVAL, "column 5, \"1\": " },
	{ "a single label is told what to write", "ads", -EINVAL, "expected a name of two labels or more, or \"||name^\"" },
	{ "the place in a pattern is named", "/ads[0-9/", -EINVAL, "column 9, the end: missing terminating ]" },
	{ "an expression about paths is named", "/ads\\/x/", -EINVAL, "column 1, \"/ads\\/x/\": " },
	{ "an address is told from a name", "192.0.2.1", -EINVAL, "column 1, \"192.0.2.1\": an address" },
	{ "a name behind an address has its column", "0.0.0.0 ads", -EINVAL, "column 9, \"ads\": " },
	{ "nothing behind an exception's mark is named", "@@", -EINVAL, "column 3, the end: " },
	{ "rewrite is a rule", "||ads.example^$dnsrewrite=192.0.2.1", 0, NULL },
	{ "two lines", "a.example\nb.example", -EINVAL, "one line" },
};

static void rule_is_read(void **state)
{
	const struct written *t = *state;
	struct compile *c = compile_new(&secret);
	struct err_at e = { 0 };

	assert_int_equal(compile_rule(c, 3, t->text, &e), t->err);
	if (t->why && !strstr(e.why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, e.why);
	assert_int_equal(compile_rule(c, FILTER_LISTS_MAX, "a.example", &e), -EINVAL);
	compile_free(c);
}

static void items_out_of_bounds_are_refused(void **state)
{
	static struct rule_condition many = { .types = RULE_TYPES_MAX + 1 };
	static const uint8_t bad[] = "\5a";
	char *pattern = calloc(1, 5000);
	struct rule_item i = { .kind = RULE_NAME, .action = FILTER_BLOCK, .name = (const uint8_t *)"\1a", .name_len = 3, .condition = &many };
	struct court c;

	court_init(&c);
	assert_int_equal(compile_item(c.compile, 0, &i), -EINVAL);
	i = (struct rule_item){ .kind = RULE_NAME, .action = FILTER_BLOCK, .name = bad, .name_len = 2 };
	assert_int_equal(compile_item(c.compile, 0, &i), -EINVAL);
	i.badfilter = true;
	assert_int_equal(compile_item(c.compile, 0, &i), -EINVAL);
	assert_int_equal(court_say(&c, &(struct said){ .kind = RULE_REGEX, .name = "(" }), -EINVAL);
	memset(pattern, 'a', 4999);
	assert_int_equal(court_say(&c, &(struct said){ .kind = RULE_REGEX, .name = pattern }), -EINVAL);
	assert_int_equal(court_say(&c, &(struct said){ .name = "1.2.3.4.5.6.7.8.9.a.b.c.d.e.f.g.h", .type = A }), -ENAMETOOLONG);
	assert_int_equal(court_say(&c, &(struct said){ .name = "1.2.3.4.5.6.7.8.9.a.b.c.d.e.f.g.h" }), -ENAMETOOLONG);
	assert_int_equal(court_say(&c, &(struct said){ .name = "2.3.4.5.6.7.8.9.a.b.c.d.e.f.g.h", .type = A }), 1);
	assert_int_equal(court_say(&c, &(struct said){ .name = "a", .type = A, .source = FILTER_LISTS_MAX }), -EINVAL);
	court_open(&c);
	court_close(&c);
	free(pattern);
}

static void what_a_source_says_twice_is_told(void **state)
{
	static const struct said one = { .name = "a.b", .type = A }, other = { .source = 1, .name = "a.b", .type = A };
	static const struct said plain = { .name = "a.b" };
	struct court c;

	court_init(&c);
	assert_int_equal(court_say(&c, &one), 1);
	assert_int_equal(court_say(&c, &one), 0);
	assert_int_equal(court_say(&c, &other), 1);
	assert_int_equal(court_say(&c, &plain), 1);
	assert_int_equal(court_say(&c, &plain), 0);
	court_open(&c);
	assert_int_equal(rules_count(c.made.rules), 2);
	court_close(&c);
}

/* ---- files ---- */

static const struct said mixture[] = {
	{ .name = "b", .reach = RULE_SUBTREE, .line = 7 },
	{ .source = 1, .name = "a.b", .action = FILTER_ALLOW, .type = A, .type_not = true, .line = 8 },
	{ .source = 1, .kind = RULE_REGEX, .name = "^ads[0-9]*\\.", .action = FILTER_ALLOW, .line = 9 },
	{ .source = 2, .kind = RULE_REGEX, .name = "c$", .invert = true, .type = AAAA },
	{ .source = 2, .name = "c", .reach = RULE_BELOW, .answer = SAID_CNAME },
	{ .source = 3, .name = "d", .answer = SAID_RECORD, .value = 77, .client = "10.0.0.0/8" },
	{ .source = 3, .name = "d", .answer = SAID_RCODE, .value = 3, .tag = "~child", .deny = "x.y" },
	{ .source = 4, .kind = RULE_ADDRESS, .name = "192.0.2.0/24", .action = FILTER_IMPORTANT_BLOCK },
	{ .source = 4, .name = "e", .reach = RULE_BELOW },
	{ .source = 4, .name = "gone", .type = A }, { .source = 5, .name = "gone", .type = A, .bad = true },
};

static void say_mixture(struct court *c)
{
	unsigned i;

	court_init(c);
	for (i = 0; i < COUNT_OF(mixture); i++)
		assert_int_equal(court_say(c, &mixture[i]), 1);
}

static void write_mixture(struct court *c)
{
	struct err_at e = { 0 };

	say_mixture(c);
	if (compile_finish(c->compile, path, rules_path, &c->made, &e))
		fail_msg("%s", e.why);
	court_sit(c);
}

static bool same_result(const struct judge_result *a, const struct judge_result *b)
{
	unsigned i;

	for (i = 0; i < a->rewrites && i < b->rewrites; i++)
		if (strcmp(a->rewrite[i]->text, b->rewrite[i]->text) || a->rewrite[i]->answer->kind != b->rewrite[i]->answer->kind)
			return false;
	return a->kind == b->kind && a->step == b->step && a->source == b->source && a->depth == b->depth &&
	       a->rewrites == b->rewrites && !a->rule == !b->rule && (!a->rule || a->rule->line == b->rule->line);
}

static void files_say_what_was_compiled(void **state)
{
	static const char *const names[] = { "b", "a.b", "x.a.b", "ads1.b", "ads.b", "x.c", "c", "d", "e", "x.e", "gone", "other" };
	static const char *const tags[] = { "child" };
	struct who who = { .ip = { [10] = 0xff, [11] = 0xff, 10, 1, 1, 1 }, .tag = tags, .tags = 1 };
	struct judge_result before, after;
	struct err_at e = { 0 };
	struct court c, d;
	unsigned i, t;

	write_mixture(&c);
	court_init(&d);
	if (compile_open(path, rules_path, &secret, &d.made, &e))
		fail_msg("%s", e.why);
	court_sit(&d);
	assert_int_equal(rules_count(d.made.rules), 7);
	for (i = 0; i < COUNT_OF(names); i++)
		for (t = 0; t < 4; t++) {
			before = court_judge(&c, names[i], t & 1 ? A : AAAA, 0, false, t & 2 ? &who : NULL);
			after = court_judge(&d, names[i], t & 1 ? A : AAAA, 0, false, t & 2 ? &who : NULL);
			if (!same_result(&before, &after))
				fail_msg("%s is judged otherwise", names[i]);
		}
	assert_true(rules_have_address(d.made.rules));
	assert_int_equal(rules_regex_strength(d.made.rules, 1), MR_ALLOW);
	assert_int_equal(rules_regex_strength(d.made.rules, 0), MR_NONE);
	court_close(&c);
	court_close(&d);
}

static void files_of_two_runs_are_not_taken(void **state)
{
	char kept[128];
	struct compiled made = { 0 };
	struct err_at e = { 0 };
	struct court c;

	write_mixture(&c);
	court_close(&c);
	snprintf(kept, sizeof(kept), "%s/kept", folder);
	assert_int_equal(rename(rules_path, kept), 0);
	assert_int_equal(compile_open(path, rules_path, &secret, &made, &e), -ENOENT);
	court_init(&c);
	court_say(&c, &(struct said){ .kind = RULE_REGEX, .name = "other" });
	assert_int_equal(compile_finish(c.compile, path, rules_path, &c.made, &e), 0);
	compiled_done(&c.made);
	assert_int_equal(compile_open(path, rules_path, &secret, &made, &e), 0);
	compiled_done(&made);
	assert_int_equal(rename(kept, rules_path), 0);
	assert_int_equal(compile_open(path, rules_path, &secret, &made, &e), -ESTALE);
	assert_non_null(strstr(e.why, "not those of"));
	assert_null(made.filter);
	compile_free(c.compile);
}

/* A folder that is not there: nothing is lost, and memory serves. */
static void writing_that_fails_may_be_tried_again(void **state)
{
	struct err_at e = { 0 };
	struct compiled made = { 0 };
	struct court c;

	say_mixture(&c);
	assert_int_equal(compile_finish(c.compile, "/nowhere/filter", "/nowhere/rules", &made, &e), -ENOENT);
	assert_int_equal(compile_finish(c.compile, path, "/nowhere/rules", &made, &e), -ENOENT);
	assert_int_equal(compile_finish(c.compile, "/nowhere/filter", rules_path, &made, &e), -ENOENT);
	court_open(&c);
	assert_int_equal(court_judge(&c, "x.e", A, 0, false, NULL).kind, MR_BLOCK);
	court_close(&c);
}

/* ---- lists that mean harm ---- */

/* A short line can make a large pattern: what they take together is bounded, and the rest goes on. */
static void patterns_are_bounded_by_what_they_take(void **state)
{
	struct rules_builder *b = rules_builder_new();
	struct rule_item item = { .kind = RULE_REGEX, .action = FILTER_BLOCK, .text = "" };
	char pattern[48];
	unsigned n = 0;
	int took;

	assert_non_null(b);
	do {
		snprintf(pattern, sizeof(pattern), "(?:[a-z]+\\.){1,1000}%u", n++);
		item.pattern = pattern;
		item.pattern_len = strlen(pattern);
		took = rules_builder_add(b, &item, 0);
	} while (took == 1 && n < 10000);
	assert_int_equal(took, -ENOSPC);
	assert_in_range(n, 250, 1500);
	item.pattern = "ads";
	item.pattern_len = 3;
	assert_int_equal(rules_builder_add(b, &item, 0), 1);
	rules_builder_free(b);
}

/* What has no place is counted; all else of the list is taken. */
static void list_with_too_many_patterns_says_so(void **state)
{
	static char text[80000];
	struct list_report *r = calloc(1, sizeof(*r));
	struct compile *c = compile_new(&secret);
	size_t size = 0;
	unsigned i;

	assert_non_null(r);
	for (i = 0; i < 2000; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "/(?:[a-z]+\\.){1,1000}%u/\n", i);
	size += (size_t)snprintf(text + size, sizeof(text) - size, "||a.example^\n/ads/\n");
	assert_int_equal(compile_list(c, 0, text, size, LIST_ADBLOCK, false, r), 0);
	assert_int_equal(r->lines, 2002);
	assert_int_equal(r->subtree, 1);
	assert_in_range(r->skipped[LIST_SKIP_full], 100, 1999);
	assert_int_equal(r->regex + r->skipped[LIST_SKIP_full], 2001);
	compile_free(c);
	free(r);
}

/* The most memory that the process had since @forget, in KiB; 0: the system does not tell. */
static unsigned long most_kib(bool forget)
{
	FILE *f = fopen(forget ? "/proc/self/clear_refs" : "/proc/self/status", forget ? "w" : "r");
	unsigned long kib = 0;
	char line[128];

	if (f && forget)
		fputs("5", f);
	while (f && !forget && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %lu", &kib);
	if (f)
		fclose(f);
	return kib;
}

static void patterns_that_say_the_same_of_a_name_take_no_memory(void **state)
{
	char text[24];
	unsigned long before;
	struct court c;
	unsigned i;

	court_init(&c);
	for (i = 0; i < 256; i++) {
		snprintf(text, sizeof(text), "^n[0-9]+(?!%u)", i + 30000);
		assert_int_equal(court_say(&c, &(struct said){ .kind = RULE_REGEX, .source = 1, .name = text }), 1);
	}
	for (i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "n%u.example", i);
		court_say(&c, &(struct said){ .name = text, .action = FILTER_ALLOW });
	}
	most_kib(true);
	before = most_kib(false);
	court_open(&c);
	assert_int_equal(court_judge(&c, "n19999.example", A, 0, false, NULL).kind, MR_ALLOW);
	assert_true(most_kib(false) - before < 80UL << 10);
	court_close(&c);
}

/* Patterns that take all their steps for each name of a list keep nobody waiting: names they were not tried on are asked about. */
static void hostile_patterns_end_and_the_names_left_are_asked_about(void **state)
{
	struct court c;
	char text[64];
	unsigned i, asked = 0;
	clock_t start;

	court_init(&c);
	court_say(&c, &(struct said){ .kind = RULE_REGEX, .source = 1, .name = "^(a+a+)+9{9}" });
	court_say(&c, &(struct said){ .kind = RULE_REGEX, .source = 1, .name = "^aa.*7\\.example$", .action = FILTER_ALLOW });
	for (i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "%.*s%u.example", 30, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", i);
		court_say(&c, &(struct said){ .name = text });
	}
	start = clock();
	court_open(&c);
	printf("# figure: 100000 names and a hostile pattern: %.2f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
	assert_in_range(rules_regex_limited(c.made.rules), 1000, 10000);
	for (i = 0; i < 100000; i += 97) {
		snprintf(text, sizeof(text), "%.*s%u.example", 30, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", i);
		asked += court_kernel(&c, text, 0).verdict.kind == MR_ASK;
		assert_int_equal(court_judge(&c, text, A, 0, false, NULL).kind, i % 10 == 7 ? MR_ALLOW : MR_BLOCK);
	}
	assert_in_range(asked, 900, 1031);
	court_close(&c);
}

/* Whatever the octets say, reading them ends well. */
static void damaged_rules_are_refused(void **state)
{
	struct rules *r;
	struct court c;
	uint8_t *saved, *copy;
	size_t size, i, taken = 0;
	unsigned bit;

	say_mixture(&c);
	court_open(&c);
	assert_int_equal(rules_save(c.made.rules, &saved, &size), 0);
	court_close(&c);
	for (i = 0; i < size; i++) {
		copy = malloc(i + 1);	/* of the very size, for the sanitizer */
		memcpy(copy, saved, i);
		assert_int_equal(rules_load(copy, i, &r), -EBADMSG);
		free(copy);
	}
	for (i = 0; i < size; i++)
		for (bit = 0; bit < 8; bit += 3) {
			saved[i] ^= (uint8_t)(1U << bit);
			if (rules_load(saved, size, &r) == 0) {
				rules_free(r);
				taken++;
			}
			saved[i] ^= (uint8_t)(1U << bit);
		}
	assert_true(taken > 0);		/* texts and values may be any */
	assert_int_equal(rules_load(saved, size, &r), 0);
	rules_free(r);
	free(saved);
}

/* ---- lines ---- */

static const char lined[] =
	"# comment\n"			/* 1 */
	"0.0.0.0 a.example\n"
	"||b.example^\n"
	"@@||good.b.example^\n"
	"a.example # again\n"
	"||example^\n";			/* 6 */

static const struct line {
	const char *name, *qname;
	uint64_t line;
	const char *text;
	bool other;			/* look in a text that has it not */
} lines[] = {
	{ "first of two lines", "a.example", 2, "0.0.0.0 a.example", false },
	{ "line of a parent", "x.b.example", 3, "||b.example^", false },
	{ "line that allows", "x.good.b.example", 4, "@@||good.b.example^", false },
	{ "line of a top label", "c.example", 6, "||example^", false },
	{ "text without the name", "a.example", 0, "", true },
};

static void line_is_found(void **state)
{
	const struct line *t = *state;
	struct list_report *report = calloc(1, sizeof(*report));
	const char *look = t->other ? "z.example\n" : lined;
	char text[200] = "";
	struct judge_result r;
	uint8_t wire[300];
	uint16_t len = name_wire(t->qname, wire);
	struct court c;

	court_init(&c);
	assert_int_equal(compile_list(c.compile, 0, lined, sizeof(lined) - 1, LIST_AUTO, false, report), 0);
	court_open(&c);
	r = court_judge(&c, t->qname, A, 0, false, NULL);
	assert_int_not_equal(r.kind, MR_NONE);
	assert_int_equal(compile_line(look, strlen(look), LIST_AUTO, false, wire, len, &r, text, sizeof(text)), t->line);
	if (strncmp(text, t->text, strlen(t->text)))
		fail_msg("\"%s\"", text);
	/* and cut */
	compile_line(look, strlen(look), LIST_AUTO, false, wire, len, &r, text, 5);
	assert_true(strlen(text) <= 4 || t->other);
	court_close(&c);
	free(report);
}

int main(void)
{
	static struct CMUnitTest tests[11 + COUNT_OF(written) + COUNT_OF(lines) + COUNT_OF(sunks)] = {
		cmocka_unit_test(list_counts_what_it_has_twice),
		cmocka_unit_test(items_out_of_bounds_are_refused),
		cmocka_unit_test(what_a_source_says_twice_is_told),
		cmocka_unit_test(files_say_what_was_compiled),
		cmocka_unit_test(files_of_two_runs_are_not_taken),
		cmocka_unit_test(writing_that_fails_may_be_tried_again),
		cmocka_unit_test(patterns_are_bounded_by_what_they_take),
		cmocka_unit_test(list_with_too_many_patterns_says_so),
		cmocka_unit_test(patterns_that_say_the_same_of_a_name_take_no_memory),
		cmocka_unit_test(hostile_patterns_end_and_the_names_left_are_asked_about),
		cmocka_unit_test(damaged_rules_are_refused),
	};
	size_t n = 11, i;

	for (i = 0; i < COUNT_OF(written); i++)
		tests[n++] = (struct CMUnitTest){ written[i].name, rule_is_read, NULL, NULL, (void *)&written[i] };
	for (i = 0; i < COUNT_OF(sunks); i++)
		tests[n++] = (struct CMUnitTest){ sunks[i].name, sink_of_a_list_is_found, NULL, NULL, (void *)&sunks[i] };
	for (i = 0; i < COUNT_OF(lines); i++)
		tests[n++] = (struct CMUnitTest){ lines[i].name, line_is_found, NULL, NULL, (void *)&lines[i] };
	return _cmocka_run_group_tests("compile", tests, n, begin, end);
}
