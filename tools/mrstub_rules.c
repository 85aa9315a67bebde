/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrstub_rules.c - the stub's rules: text in, the rule for a query out.
 *
 * A rule is a line "NAME [TYPE] WORD...":
 *
 *   www.example.test A a=192.0.2.1 a=192.0.2.2 ttl=30
 *   www.example.test cname=cdn.example.test a=192.0.2.7
 *   *.nx.test NXDOMAIN ttl=60 minimum=5
 *   *.slow.test delay=250
 *   big.test TXT big=3000
 *   flaky.test first=2 SERVFAIL
 *   * HTTPS hex=HTTPS:00010000010003026832
 *
 * NAME is exact, "*.suffix" (what is below the suffix) or "*".  The first rule
 * that matches wins.  A rule that gives neither records nor rcode nor size
 * changes the manner of the default answer: an address made from the name for
 * A and AAAA, NODATA for the rest.  Records of a rule without TYPE are sent
 * when their type is asked for; with TYPE they are all sent.  A record behind a
 * cname= belongs to its target.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/mrstub.h"

#define LINE_MAX 8192

/* ---- words ---------------------------------------------------------------- */

static const struct {
	const char *text;
	uint8_t rcode;
} rcodes[] = {
	{ "NOERROR", 0 }, { "FORMERR", 1 }, { "SERVFAIL", 2 }, { "NXDOMAIN", 3 }, { "NOTIMP", 4 }, { "REFUSED", 5 },
};

static const struct {
	const char *word;
	uint32_t flag;
	const char *help;
} flags[] = {
#define X(name, word, help) { word, STUB_##name, help },
	STUB_FLAGS(X)
#undef X
};

static const struct {
	const char *word;
	size_t at;
	uint32_t min, max;
	bool data;
	const char *help;
} numbers[] = {
	{ "ttl", offsetof(struct stub_rule, ttl_s), 0, INT32_MAX, false, "TTL of every record, seconds" },
	{ "minimum", offsetof(struct stub_rule, minimum_s), 0, INT32_MAX, false, "MINIMUM of the SOA in negative answers" },
	{ "delay", offsetof(struct stub_rule, delay_ms), 0, 600000, false, "milliseconds until the answer leaves" },
	{ "loss", offsetof(struct stub_rule, loss_percent), 0, 100, false, "percent of queries over UDP that get no answer" },
	{ "first", offsetof(struct stub_rule, first), 1, UINT32_MAX, false,
	  "the rule is for the first N queries that match it" },
	{ "refuse-after", offsetof(struct stub_rule, refuse_after), 1, UINT32_MAX, false,
	  "REFUSED from the query behind the N-th of one connection on" },
	{ "status", offsetof(struct stub_rule, status), 400, 599, false, "over HTTPS: that status instead of an answer" },
	{ "big", offsetof(struct stub_rule, big), 64, STUB_MSG_MAX, true,
	  "octets of the message, filled with addresses (A, AAAA; as many as fit) or TXT (exactly)" },
};

static int record_address(struct stub_rule *r, uint16_t type, const char *v);
static int record_name(struct stub_rule *r, uint16_t type, const char *v);
static int record_mx(struct stub_rule *r, uint16_t type, const char *v);
static int record_txt(struct stub_rule *r, uint16_t type, const char *v);
static int record_hex(struct stub_rule *r, uint16_t type, const char *v);

static const struct {
	const char *word;
	uint16_t type;
	int (*add)(struct stub_rule *r, uint16_t type, const char *v);
	const char *help;
} records[] = {
	{ "a", TYPE_A, record_address, "an IPv4 address" },
	{ "aaaa", TYPE_AAAA, record_address, "an IPv6 address" },
	{ "cname", TYPE_CNAME, record_name, "a name; the records behind it are the target's" },
	{ "ns", TYPE_NS, record_name, "a name" },
	{ "ptr", TYPE_PTR, record_name, "a name" },
	{ "mx", TYPE_MX, record_mx, "PREFERENCE:NAME" },
	{ "txt", TYPE_TXT, record_txt, "a string of at most 255 octets; in double quotes if it has spaces" },
	{ "hex", 0, record_hex, "TYPE:RDATA in hexadecimal" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void stub_rules_help(FILE *to)
{
	size_t i;

	for (i = 0; i < COUNT(rcodes); i++)
		fprintf(to, "%s%s", i ? ", " : "  ", rcodes[i].text);
	fprintf(to, "  the rcode; NOERROR alone is NODATA\n");
	for (i = 0; i < COUNT(records); i++)
		fprintf(to, "  %s=  %s\n", records[i].word, records[i].help);
	for (i = 0; i < COUNT(numbers); i++)
		fprintf(to, "  %s=  %s\n", numbers[i].word, numbers[i].help);
	fprintf(to, "  zone=  owner of the SOA in negative answers (the parent of the name asked)\n");
	for (i = 0; i < COUNT(flags); i++)
		fprintf(to, "  %s  %s\n", flags[i].word, flags[i].help);
}

/* ---- records of a rule ---------------------------------------------------- */

static int record_add(struct stub_rule *r, uint16_t type, const void *rdata, size_t len)
{
	struct stub_record *rec = &r->record[r->record_count];
	struct stub_record *last;

	if (r->record_count == STUB_RECORDS_MAX)
		return stub_bad("more than %d records", STUB_RECORDS_MAX);
	*rec = (struct stub_record){ .type = type, .rdata_len = len, .rdata = malloc(len ? len : 1) };
	if (!rec->rdata)
		return -ENOMEM;
	memcpy(rec->rdata, rdata, len);
	if (r->record_count) {
		last = rec - 1;
		rec->owner = last->type == TYPE_CNAME ? last->rdata : last->owner;
	}
	r->record_count++;
	return 0;
}

static int record_address(struct stub_rule *r, uint16_t type, const char *v)
{
	uint8_t a[16];

	if (inet_pton(type == TYPE_A ? AF_INET : AF_INET6, v, a) != 1)
		return stub_bad("'%s' is not an %s address", v, type == TYPE_A ? "IPv4" : "IPv6");
	return record_add(r, type, a, type == TYPE_A ? 4 : 16);
}

static int record_name(struct stub_rule *r, uint16_t type, const char *v)
{
	uint8_t wire[STUB_NAME_MAX];
	int len = stub_name_parse(v, wire);

	return len < 0 ? len : record_add(r, type, wire, len);
}

static int record_mx(struct stub_rule *r, uint16_t type, const char *v)
{
	uint8_t wire[2 + STUB_NAME_MAX];
	const char *colon = strchr(v, ':');
	char preference[8];
	uint32_t n;
	int len;

	if (!colon || colon - v >= (int)sizeof(preference))
		return stub_bad("'%s' is not PREFERENCE:NAME", v);
	snprintf(preference, sizeof(preference), "%.*s", (int)(colon - v), v);
	if (stub_number_parse(preference, 0, UINT16_MAX, &n))
		return stub_bad("'%s' is not PREFERENCE:NAME", v);
	wire[0] = n >> 8;
	wire[1] = n;
	len = stub_name_parse(colon + 1, wire + 2);
	return len < 0 ? len : record_add(r, type, wire, 2 + len);
}

static int record_txt(struct stub_rule *r, uint16_t type, const char *v)
{
	uint8_t rdata[256];
	size_t len = strlen(v);

	if (len > 255)
		return stub_bad("a txt of %zu octets; at most 255", len);
	rdata[0] = len;
	memcpy(rdata + 1, v, len);
	return record_add(r, type, rdata, 1 + len);
}

static int record_hex(struct stub_rule *r, uint16_t type, const char *v)
{
	uint8_t rdata[LINE_MAX / 2];
	const char *colon = strchr(v, ':'), *t;
	char text[16];
	size_t n = 0;

	if (!colon || colon - v >= (int)sizeof(text))
		return stub_bad("'%s' is not TYPE:HEXADECIMAL", v);
	snprintf(text, sizeof(text), "%.*s", (int)(colon - v), v);
	if (stub_type_parse(text, &type))
		return stub_bad("'%s' is not a type", text);
	for (t = colon + 1; *t; t += 2) {
		if (n == sizeof(rdata) || stub_hex_digit(t[0]) < 0 || stub_hex_digit(t[1]) < 0)
			return stub_bad("'%s' is not an even number of hexadecimal digits", colon + 1);
		rdata[n++] = stub_hex_digit(t[0]) << 4 | stub_hex_digit(t[1]);
	}
	return record_add(r, type, rdata, n);
}

/* ---- rules ---------------------------------------------------------------- */

static void rule_free(struct stub_rule *r)
{
	uint32_t i;

	if (!r)
		return;
	for (i = 0; i < r->record_count; i++)
		free(r->record[i].rdata);
	free(r->zone);
	free(r);
}

static struct stub_rule *rule_new(const struct stub_rules *rules)
{
	struct stub_rule *r = calloc(1, sizeof(*r));

	if (r) {
		r->match = MATCH_ALL;
		r->ttl_s = rules->ttl_s;
		r->minimum_s = rules->minimum_s;
	}
	return r;
}

int stub_rules_init(struct stub_rules *r)
{
	r->fallback = rule_new(r);
	return r->fallback ? 0 : -ENOMEM;
}

void stub_rules_done(struct stub_rules *r)
{
	while (r->count)
		rule_free(r->rule[--r->count]);
	rule_free(r->fallback);
	r->fallback = NULL;
}

static int rule_name(struct stub_rule *r, const char *text)
{
	int len;

	if (!strcmp(text, "*"))
		return 0;
	r->match = !strncmp(text, "*.", 2) && text[2] ? MATCH_BELOW : MATCH_EXACT;
	len = stub_name_parse(r->match == MATCH_BELOW ? text + 2 : text, r->name);
	if (len < 0)
		return len;
	r->name_len = len;
	return 0;
}

static int rule_zone(struct stub_rule *r, const char *text)
{
	uint8_t wire[STUB_NAME_MAX];
	int len = stub_name_parse(text, wire);

	if (len < 0)
		return len;
	free(r->zone);
	r->zone = malloc(len);
	if (!r->zone)
		return -ENOMEM;
	memcpy(r->zone, wire, len);
	return 0;
}

/* "key=value" */
static int rule_value(struct stub_rule *r, const char *word, const char *value)
{
	size_t i, len = value - 1 - word;

	for (i = 0; i < COUNT(records); i++) {
		if (strlen(records[i].word) == len && !strncmp(word, records[i].word, len)) {
			r->has_data = true;
			return records[i].add(r, records[i].type, value);
		}
	}
	for (i = 0; i < COUNT(numbers); i++) {
		if (strlen(numbers[i].word) != len || strncmp(word, numbers[i].word, len))
			continue;
		r->has_data |= numbers[i].data;
		if (stub_number_parse(value, numbers[i].min, numbers[i].max, (uint32_t *)((char *)r + numbers[i].at)))
			return stub_bad("'%s'; expected a number from %u to %u", word, numbers[i].min, numbers[i].max);
		return 0;
	}
	if (len == 4 && !strncmp(word, "zone", 4))
		return rule_zone(r, value);
	return stub_bad("unknown word '%s'", word);
}

static int rule_word(struct stub_rule *r, const char *word)
{
	const char *eq = strchr(word, '=');
	size_t i;

	if (eq)
		return rule_value(r, word, eq + 1);
	for (i = 0; i < COUNT(flags); i++) {
		if (!strcmp(word, flags[i].word)) {
			r->flags |= flags[i].flag;
			return 0;
		}
	}
	for (i = 0; i < COUNT(rcodes); i++) {
		if (!strcasecmp(word, rcodes[i].text)) {
			r->rcode = rcodes[i].rcode;
			r->has_data = true;
			return 0;
		}
	}
	return stub_bad("unknown word '%s'", word);
}

int stub_rules_add(struct stub_rules *rules, const char *line, const char **reterr)
{
	char copy[LINE_MAX], *at = copy, *word;
	struct stub_rule *r = NULL;
	int err = 0, n;

	*reterr = stub_why;
	stub_why[0] = 0;
	if (strlen(line) >= sizeof(copy))
		return stub_bad("a line of more than %d octets", LINE_MAX - 1);
	strcpy(copy, line);
	for (n = 0; !err && (word = stub_word_next(&at, &err)) && !err; n++) {
		if (n == 0) {
			r = rule_new(rules);
			err = r ? rule_name(r, word) : -ENOMEM;
		} else if (n > 1 || stub_type_parse(word, &r->type)) {
			err = rule_word(r, word);
		}
	}
	if (err || !r)
		goto out;
	if (n == 1) {
		err = stub_bad("a rule needs a word besides the name");
	} else if (rules->count == STUB_RULES_MAX) {
		err = stub_bad("more than %d rules", STUB_RULES_MAX);
	} else {
		rules->rule[rules->count++] = r;
		r = NULL;
	}
out:
	rule_free(r);
	return err;
}

static bool name_matches(const struct stub_rule *r, const struct stub_query *q)
{
	int skip = q->name_len - r->name_len, at = 0;

	if (r->match == MATCH_ALL)
		return true;
	if (r->match == MATCH_EXACT ? skip : skip <= 0)
		return false;
	if (memcmp(q->name + skip, r->name, r->name_len))
		return false;
	while (at < skip)
		at += q->name[at] + 1;
	return at == skip;
}

struct stub_rule *stub_rules_find(struct stub_rules *rules, const struct stub_query *q)
{
	uint32_t other = q->tcp ? STUB_UDP : STUB_TCP, own = q->tcp ? STUB_TCP : STUB_UDP, i;

	for (i = 0; i < rules->count; i++) {
		struct stub_rule *r = rules->rule[i];

		if ((r->type && r->type != q->type) || !name_matches(r, q))
			continue;
		if ((r->flags & other) && !(r->flags & own))
			continue;
		if (r->first && (atomic_load(&r->used) >= r->first || atomic_fetch_add(&r->used, 1) >= r->first))
			continue;
		return r;
	}
	return rules->fallback;
}
