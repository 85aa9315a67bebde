/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cases.c - another filter's rules and what it says of them.
 *
 * ../shared/data/suites/derived/filter-cases.tsv, a test for each row: its
 * rules are read as a list, compiled, and its question is judged.  Rows that
 * are judged otherwise here stand in a table with the reason; one that is no
 * longer so fails.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "unit/policy/court.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

#define FIELDS   5
#define ROWS_MAX 400

struct row {
	char *field[FIELDS];		/* group, rules, question, type and client, what is expected */
	char name[160];
	unsigned number;		/* of the file's rows, comments not counted; 1 .. */
};

/* Judged otherwise, and why. */
static const struct otherwise {
	unsigned row;
	const char *question, *ours, *why;
} otherwise[] = {
	{ 5, "v4.com", "block", "addresses of a sink (0.0.0.0, 127.0.0.0/8, ::, ::1) are a block, answered as the group's mode says" },
	{ 6, "v6.com", "block", "addresses of a sink are a block" },
	{ 7, "v4and6.com", "addr:", "of the four addresses ::2 alone is no sink: a rewrite with an AAAA record, so A is answered without data" },
	{ 45, "-", "1 names", "a single label is never taken from a plain list" },
	{ 47, "-", "0 names", "names that every hosts file has are not taken" },
	{ 114, "etc-hosts-rule", "none", "a single label is never taken from a plain list" },
};

static const struct otherwise *otherwise_of(const struct row *r)
{
	unsigned i;

	for (i = 0; i < COUNT_OF(otherwise); i++)
		if (otherwise[i].row == r->number) {
			assert_string_equal(otherwise[i].question, r->field[2]);
			return &otherwise[i];
		}
	return NULL;
}

/* ---- what we say ---- */

static const struct {
	const char *name;
	uint16_t number;
} types[] = { { "A", 1 }, { "NS", 2 }, { "CNAME", 5 }, { "PTR", 12 }, { "MX", 15 }, { "TXT", 16 }, { "AAAA", 28 }, { "SRV", 33 }, { "SVCB", 64 }, { "HTTPS", 65 } };

static uint16_t type_number(const char *name, size_t len)
{
	unsigned i;

	for (i = 0; i < COUNT_OF(types); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, name, len))
			return types[i].number;
	return 0;
}

static const char *type_name(uint16_t number)
{
	unsigned i;

	for (i = 0; i < COUNT_OF(types); i++)
		if (types[i].number == number)
			return types[i].name;
	return "?";
}

static const char *rcode_name(unsigned rcode)
{
	static const char *const names[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED" };

	return rcode < COUNT_OF(names) ? names[rcode] : "?";
}

static void value_text(const struct rule_answer *a, uint16_t type, char *to, size_t size)
{
	const uint8_t *p = a->rdata;
	char name[DNS_NAME_TEXT_MAX];

	*to = '\0';
	if (type == 1 || type == 28)
		inet_ntop(type == 1 ? AF_INET : AF_INET6, p, to, (socklen_t)size);
	else if (type == 5 || type == 12)
		snprintf(to, size, "%s", dns_name_text(p, name, sizeof(name)));
	else if (type == 15)
		snprintf(to, size, "%u %s", p[0] << 8 | p[1], dns_name_text(p + 2, name, sizeof(name)));
	else if (type == 33)
		snprintf(to, size, "%u %u %u %s", p[0] << 8 | p[1], p[2] << 8 | p[3], p[4] << 8 | p[5], dns_name_text(p + 6, name, sizeof(name)));
}

static void rewrite_text(const struct judge_result *r, uint16_t qtype, char *to, size_t size)
{
	const struct rule_answer *a = r->rewrite[0]->answer;
	uint16_t type = a->kind == RULE_ANSWER_CNAME ? 5 : qtype;
	size_t n;
	unsigned i, values = 0;
	char value[DNS_NAME_TEXT_MAX];

	if (a->kind != RULE_ANSWER_CNAME && a->kind != RULE_ANSWER_RECORD) {
		snprintf(to, size, "rewrite:%s//", a->kind == RULE_ANSWER_RCODE ? rcode_name(a->rcode) : "drop");
		return;
	}
	n = (size_t)snprintf(to, size, "rewrite:NOERROR/%s/", type_name(type));
	for (i = 0; i < r->rewrites && n < size; i++) {
		a = r->rewrite[i]->answer;
		if (a->kind == RULE_ANSWER_RECORD && a->type != type)
			continue;
		value_text(a, type, value, sizeof(value));
		n += (size_t)snprintf(to + n, size - n, "%s%s", values++ ? "+" : "", value);
	}
}

static void say_result(const struct judge_result *r, uint16_t qtype, char *to, size_t size)
{
	static const char *const words[MR_VERDICTS] = {
		[MR_NONE] = "none", [MR_BLOCK] = "block", [MR_IMPORTANT_BLOCK] = "block", [MR_ALLOW] = "allow", [MR_IMPORTANT_ALLOW] = "allow",
	};

	if (r->rewrites)
		rewrite_text(r, qtype, to, size);
	else
		snprintf(to, size, "%s", words[r->kind]);
}

/* ---- rows ---- */

static void *copy_of(const void *p, size_t size)
{
	void *to = malloc(size + 1);

	assert_non_null(to);
	memcpy(to, p, size);
	((char *)to)[size] = '\0';
	return to;
}

/* "a\nb" as two lines. */
static char *unescape(const char *text)
{
	char *s = copy_of(text, strlen(text)), *from, *to;

	for (from = to = s; *from; from++, to++) {
		*to = *from;
		if (from[0] == '\\' && from[1] == 'n') {
			*to = '\n';
			from++;
		}
	}
	*to = '\0';
	return s;
}

struct question {
	uint16_t qtype;
	struct who who;
	bool has_who;
	const char *tag[8];
	char buf[128];
};

/* "AAAA client=127.0.0.1", "ctag=pc,router", "-" */
static void read_question(const char *text, struct question *q)
{
	char *save, *word, *part;
	struct addr a;

	memset(q, 0, sizeof(*q));
	q->qtype = 1;
	snprintf(q->buf, sizeof(q->buf), "%s", text);
	for (word = strtok_r(q->buf, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strncmp(word, "client=", 7)) {
			assert_int_equal(addr_parse(word + 7, 0, &a), 0);
			memcpy(q->who.ip, a.ip, 16);
			q->has_who = true;
		} else if (!strncmp(word, "ctag=", 5)) {
			q->has_who = true;
			for (part = word + 5; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL)
				q->tag[q->who.tags++] = part;
		} else if (strcmp(word, "-")) {
			q->qtype = type_number(word, strlen(word));
			assert_int_not_equal(q->qtype, 0);
		}
	}
	for (word = q->buf; word < q->buf + sizeof(q->buf); word++)
		if (*word == ',')
			*word = '\0';
	q->who.tag = q->tag;
}

static uint64_t taken(const struct list_report *r)
{
	return r->exact + r->subtree + r->allow + r->regex + r->rewrite + r->address + r->bad;
}

/* "addr:" is what hosts lines with addresses answer. */
static void as_expected(const char *expected, char *ours, size_t size)
{
	char text[600], *p;

	if (strncmp(expected, "addr:", 5) || strncmp(ours, "rewrite:NOERROR/A", 17))
		return;
	p = strchr(ours + 16, '/') + 1;
	snprintf(text, sizeof(text), "addr:%s", p);
	for (p = text; *p; p++)
		if (*p == '+')
			*p = ',';
	snprintf(ours, size, "%s", text);
}

static void judge_row(const struct row *r, const char *expected, char *ours, size_t size)
{
	struct list_report *report = calloc(1, sizeof(*report));
	char *rules = unescape(r->field[1]);
	struct question q;
	struct judge_result result;
	struct court c;
	uint64_t items;

	read_question(r->field[3], &q);
	court_init(&c);
	assert_int_equal(compile_list(c.compile, 0, rules, strlen(rules), LIST_AUTO, false, report), 0);
	items = taken(report);
	court_open(&c);
	result = court_judge(&c, r->field[2], q.qtype, 0, false, q.has_who ? &q.who : NULL);
	say_result(&result, q.qtype, ours, size);
	if (!strncmp(expected, "hosts:", 6)) {
		snprintf(ours, size, "%llu names", (unsigned long long)items);
	} else if (!strcmp(expected, "invalid") || !strcmp(expected, "valid")) {
		snprintf(ours, size, items ? "valid" : "invalid");
	} else if (!strncmp(expected, "valid ", 6)) {
		memmove(ours + 6, ours, strlen(ours) + 1);
		memcpy(ours, "valid ", 6);
	}
	as_expected(expected, ours, size);
	court_close(&c);
	free(rules);
	free(report);
}

/* A row's expectation without its remark; "hosts:" as the number of its names. */
static const char *expectation(const struct row *r, char *buf, size_t size)
{
	const char *p;
	unsigned names = 1;
	size_t n;

	snprintf(buf, size, "%s", r->field[4]);
	if (strstr(buf, " ("))
		*strstr(buf, " (") = '\0';
	/* "new-ptr." and "new-ptr" are one name */
	n = strlen(buf);
	if (n && buf[n - 1] == '.' && !strncmp(buf, "rewrite:", 8))
		buf[n - 1] = '\0';
	if (strncmp(buf, "hosts:", 6))
		return buf;
	for (p = strchr(buf, '='); p && *p; p++)
		names += *p == ',';
	snprintf(buf, size, "hosts:%u", names);
	return buf;
}

static void row_is_judged(void **state)
{
	const struct row *r = *state;
	const struct otherwise *o = otherwise_of(r);
	char expected[200], ours[600];

	expectation(r, expected, sizeof(expected));
	judge_row(r, expected, ours, sizeof(ours));
	if (!strncmp(expected, "hosts:", 6))
		snprintf(expected, sizeof(expected), "%s names", r->field[4][0] ? strdupa(expected) + 6 : "");
	if (!o) {
		assert_string_equal(ours, expected);
		return;
	}
	if (!strcmp(ours, expected))
		fail_msg("row %u is judged as expected: the table of those judged otherwise is stale", r->number);
	assert_string_equal(ours, o->ours);
	printf("# row %u otherwise: %s\n", r->number, o->why);
}

static void file_is_there(void **state)
{
	size_t size;
	char *text = list_file("../suites/derived/filter-cases.tsv", &size);

	if (!text)
		skip();
	free(text);
}

static void table_names_rows_that_exist(void **state)
{
	const unsigned *rows = *state;
	unsigned i, j;

	if (!*rows)
		skip();
	for (i = 0; i < COUNT_OF(otherwise); i++) {
		assert_true(otherwise[i].row >= 1 && otherwise[i].row <= *rows);
		for (j = 0; j < i; j++)
			assert_int_not_equal(otherwise[i].row, otherwise[j].row);
	}
}

static unsigned read_rows(char *text, struct row *rows)
{
	char *line, *next, *p;
	unsigned n = 0, i;

	for (line = text; *line && n < ROWS_MAX; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (*line == '#' || !*line)
			continue;
		for (i = 0, p = line; i < FIELDS && p; i++) {
			rows[n].field[i] = p;
			p = i + 1 < FIELDS ? strchr(p, '\t') : NULL;
			if (p)
				*p++ = '\0';
		}
		if (i < FIELDS)
			continue;
		rows[n].number = n + 1;
		snprintf(rows[n].name, sizeof(rows[n].name), "row %u: %.60s: %.40s", n + 1, rows[n].field[1], rows[n].field[4]);
		n++;
	}
	return n;
}

int main(void)
{
	static struct row rows[ROWS_MAX];
	static struct CMUnitTest tests[ROWS_MAX + 2] = { cmocka_unit_test(file_is_there) };
	static unsigned count;
	size_t size, n = 1;
	char *text = list_file("../suites/derived/filter-cases.tsv", &size);
	unsigned i;
	int failed;

	count = text ? read_rows(text, rows) : 0;
	tests[n++] = (struct CMUnitTest){ "table names rows that exist", table_names_rows_that_exist, NULL, NULL, &count };
	for (i = 0; i < count; i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, row_is_judged, NULL, NULL, &rows[i] };
	failed = _cmocka_run_group_tests("cases", tests, n, setup, teardown);
	free(text);
	return failed;
}
