/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_scenarios.c - runs every tests/scenario/cases/NAME.txt; README.md has the grammar.
 *
 * Prints TAP, one row a scenario; the first statement that does not hold ends it.
 */
#include <dirent.h>
#include <errno.h>
#include <ldns/ldns.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dns/name.h"
#include "dns/text.h"
#include "tests/scenario/world.h"

#define WORDS_MAX   24
#define RECORDS_MAX 64
#define SECOND      1000000000ULL

/* One statement with the records that belong to it. */
struct statement {
	unsigned line;
	char *word[WORDS_MAX];
	unsigned words;
	char *record[RECORDS_MAX];
	unsigned records;
};

static char fault[1024];

static int wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fault, sizeof(fault), fmt, ap);
	va_end(ap);
	return -1;
}

static bool has(const struct statement *s, const char *word)
{
	unsigned i;

	for (i = 1; i < s->words; i++)
		if (strcmp(s->word[i], word) == 0)
			return true;
	return false;
}

/* The word behind @word, or NULL. */
static const char *after(const struct statement *s, const char *word)
{
	unsigned i;

	for (i = 1; i + 1 < s->words; i++)
		if (strcmp(s->word[i], word) == 0)
			return s->word[i + 1];
	return NULL;
}

static int take_key(const char *name, const char *type, struct dns_key *ret)
{
	uint8_t wire[256];
	int len = dns_name_from_text(name, strlen(name), wire);

	*ret = (struct dns_key){ 0 };
	if (len < 0 || dns_type_from_text(type, &ret->qtype))
		return wrong("%s %s is no question", name, type);
	dns_name_lower(ret->name, wire, (size_t)len);
	ret->name_len = (uint16_t)len;
	return 0;
}

static bool is_key(const struct dns_key *a, const struct dns_key *b)
{
	return a->qtype == b->qtype && a->name_len == b->name_len && memcmp(a->name, b->name, a->name_len) == 0;
}

/* ---- statements ---- */

static int do_option(struct world *w, struct statement *s)
{
	const char *name = s->word[1];
	uint32_t value = (uint32_t)strtoul(s->word[2], NULL, 10);

	if (strcmp(name, "allow") == 0)
		return addr_prefix_parse(s->word[2], &w->config->access_allow.at[w->config->access_allow.count++]);
	if (strcmp(name, "admit_after") == 0)
		w->config->fastpath_admit_after = value;
	else if (strcmp(name, "prefetch") == 0)
		w->config->cache_prefetch = value;
	else if (strcmp(name, "min_ttl") == 0)
		w->config->cache_min_ttl = value;
	else if (strcmp(name, "max_ttl") == 0)
		w->config->cache_max_ttl = value;
	else if (strcmp(name, "negative_ttl_max") == 0)
		w->config->cache_negative_ttl_max = value;
	else if (strcmp(name, "route") == 0)
		return world_zone(w, WORLD_ROUTE, s->word[2]);
	else if (strcmp(name, "forward_special") == 0)
		return world_zone(w, WORLD_SPECIAL, s->word[2]);
	else if (strcmp(name, "rebinding_allow") == 0)
		return world_zone(w, WORLD_REBINDING, s->word[2]);
	else if (strcmp(name, "rebinding_protect") == 0)
		w->config->upstreams_rebinding_protect = value;
	else if (strcmp(name, "ecs") == 0)
		w->config->upstreams_ecs = strcmp(s->word[2], "forward") ? CONFIG_ECS_STRIP : CONFIG_ECS_FORWARD;
	else if (strcmp(name, "version") == 0)
		snprintf(w->config->server_version, sizeof(w->config->server_version), "%s", s->word[2]);
	else if (strcmp(name, "identity") == 0)
		snprintf(w->config->server_identity, sizeof(w->config->server_identity), "%s", s->word[2]);
	else if (strcmp(name, "servers") == 0)
		w->config->upstreams_servers.count = value;
	else
		return wrong("no such option: %s", name);
	return 0;
}

static int do_filter(struct world *w, struct statement *s)
{
	bool allow = strcmp(s->word[1], "allow") == 0;
	struct rule_item item = { .kind = RULE_NAME, .action = allow ? FILTER_ALLOW : FILTER_BLOCK };
	struct dns_key key;

	if (take_key(s->word[3], "A", &key))
		return -1;
	item.reach = strcmp(s->word[2], "subtree") == 0 ? RULE_SUBTREE : RULE_EXACT;
	item.name = key.name;
	item.name_len = key.name_len;
	return world_rule(w, allow ? WORLD_ALLOWS : WORLD_BLOCKS, &item) ? wrong("no room for %s", s->word[3]) : 0;
}

/* "regex block|allow PATTERN" and "address block|allow PREFIX" */
static int do_pattern(struct world *w, struct statement *s)
{
	bool allow = strcmp(s->word[1], "allow") == 0;
	struct rule_item item = { .kind = RULE_REGEX, .action = allow ? FILTER_ALLOW : FILTER_BLOCK, .pattern = s->word[2],
				  .pattern_len = strlen(s->word[2]) };

	if (strcmp(s->word[0], "address") == 0) {
		item.kind = RULE_ADDRESS;
		item.pattern = NULL;
		item.pattern_len = 0;
		if (addr_prefix_parse(s->word[2], &item.address))
			return wrong("%s is no prefix", s->word[2]);
	}
	return world_rule(w, allow ? WORLD_ALLOWS : WORLD_BLOCKS, &item) ? wrong("no room for %s", s->word[2]) : 0;
}

/* The RDATA of one record in text. */
static int take_record(const char *type, const char *text, struct rule_answer *ret, uint8_t *rdata)
{
	char line[512];
	ldns_rr *rr;
	size_t i;

	snprintf(line, sizeof(line), "x. 60 IN %s %s", type, text);
	if (ldns_rr_new_frm_str(&rr, line, 60, NULL, NULL) != LDNS_STATUS_OK)
		return wrong("%s is no record", line);
	ret->type = (uint16_t)ldns_rr_get_type(rr);
	for (i = 0; i < ldns_rr_rd_count(rr); i++) {
		memcpy(rdata + ret->rdata_len, ldns_rdf_data(ldns_rr_rdf(rr, i)), ldns_rdf_size(ldns_rr_rdf(rr, i)));
		ret->rdata_len += (uint16_t)ldns_rdf_size(ldns_rr_rdf(rr, i));
	}
	ldns_rr_free(rr);
	ret->rdata = rdata;
	return 0;
}

/* "rewrite NAME A 192.0.2.1", "... CNAME TARGET", "... rcode NXDOMAIN", "... drop", "... tcp"; behind it safe or local: whose it is */
static int do_rewrite(struct world *w, struct statement *s)
{
	struct rule_answer answer = { .ttl = 60 };
	struct rule_item item = { .kind = RULE_NAME, .action = FILTER_BLOCK, .reach = RULE_EXACT, .answer = &answer };
	const ldns_lookup_table *rcode = s->words > 3 ? ldns_lookup_by_name(ldns_rcodes, s->word[3]) : NULL;
	const char *what = s->word[2];
	uint8_t rdata[512];
	struct dns_key key;

	if (take_key(s->word[1][0] == '*' ? s->word[1] + 2 : s->word[1], "A", &key))
		return -1;
	if (s->word[1][0] == '*')
		item.reach = RULE_BELOW;
	item.name = key.name;
	item.name_len = key.name_len;
	if (strcmp(what, "drop") == 0)
		answer.kind = RULE_ANSWER_DROP;
	else if (strcmp(what, "tcp") == 0)
		answer.kind = RULE_ANSWER_TCP;
	else if (strcmp(what, "rcode") == 0 && rcode)
		answer = (struct rule_answer){ .kind = RULE_ANSWER_RCODE, .rcode = (uint16_t)rcode->id, .ttl = 60 };
	else if (s->words < 4 || take_record(what, s->word[3], &answer, rdata))
		return wrong("%s is no rewrite", what);
	else
		answer.kind = strcmp(what, "CNAME") ? RULE_ANSWER_RECORD : RULE_ANSWER_CNAME;
	return world_rule(w, has(s, "safe") ? WORLD_SAFE : has(s, "local") ? WORLD_LOCAL : WORLD_BLOCKS, &item) ?
	       wrong("no room for %s", s->word[1]) : 0;
}

/* "pause on|off": of everybody's group */
static int do_pause(struct world *w, struct statement *s)
{
	w->group[0].paused = strcmp(s->word[1], "on") == 0;
	return 0;
}

static size_t take_hex(const char *p, uint8_t *ret)
{
	unsigned octet;
	size_t len = 0;

	for (; sscanf(p, "%2x", &octet) == 1; p += 2)
		ret[len++] = (uint8_t)octet;
	return len;
}

/* Put a query together by hand: scenarios ask also what dns_query_write() would not. */
static size_t write_query(const struct statement *s, const struct dns_key *key, const uint8_t *name, uint8_t *msg)
{
	unsigned class = after(s, "class") ? (unsigned)atoi(after(s, "class")) : DNS_IN;
	unsigned size = after(s, "size") ? (unsigned)atoi(after(s, "size")) : 1232;
	bool edns = has(s, "edns") || has(s, "do") || after(s, "size") || after(s, "option");
	size_t options;
	uint8_t header[DNS_HEADER] = { 0x12, 0x34, has(s, "norec") ? 0 : 1,
				       (has(s, "cd") ? 0x10 : 0) | (has(s, "ad") ? 0x20 : 0), 0, 1, 0, 0, 0, 0, 0, edns };
	uint8_t tail[4] = { key->qtype >> 8, key->qtype & 255, class >> 8, class & 255 };
	uint8_t opt[11] = { 0, 0, 41, size >> 8, size & 255, 0, 0, has(s, "do") ? 0x80 : 0, 0, 0, 0 };
	size_t len = 0;

	memcpy(msg, header, DNS_HEADER);
	len = DNS_HEADER;
	memcpy(msg + len, name, key->name_len);
	len += key->name_len;
	memcpy(msg + len, tail, sizeof(tail));
	len += sizeof(tail);
	if (edns) {
		memcpy(msg + len, opt, sizeof(opt));
		len += sizeof(opt);
	}
	if (after(s, "option")) {
		options = take_hex(after(s, "option"), msg + len);
		msg[len - 1] = (uint8_t)options;
		len += options;
	}
	return len;
}

static int start(struct world *w)
{
	if (!w->running && world_snapshot(w))
		return wrong("the policy could not be made");
	return 0;
}

static int client_address(const struct statement *s, struct addr *ret)
{
	if (addr_parse(after(s, "from") ? after(s, "from") : "192.0.2.1", 5353, ret))
		return wrong("%s is no address", after(s, "from"));
	return 0;
}

static int do_ask(struct world *w, struct statement *s)
{
	struct world_client *c = world_client(w, s->word[1], true);
	uint8_t msg[512], name[256];
	struct dns_key key;
	struct addr from;

	if (start(w) || take_key(s->word[2], s->word[3], &key) || client_address(s, &from))
		return -1;
	dns_name_from_text(s->word[2], strlen(s->word[2]), name);
	world_ask(w, c, has(s, "tcp") ? QUERY_TCP : QUERY_UDP, msg, write_query(s, &key, name, msg), &from);
	return 0;
}

static int do_raw(struct world *w, struct statement *s)
{
	struct world_client *c = world_client(w, s->word[1], true);
	uint8_t msg[512];
	size_t len = 0;
	unsigned octet, i;
	struct addr from;

	if (start(w) || client_address(s, &from))
		return -1;
	for (i = 2; i < s->words; i++)
		for (const char *p = s->word[i]; sscanf(p, "%2x", &octet) == 1; p += 2)
			msg[len++] = (uint8_t)octet;
	world_ask(w, c, QUERY_UDP, msg, len, &from);
	return 0;
}

/* The subnet that goes out is @want, or there is none. */
static int check_ecs(const struct query *q, const char *want)
{
	uint8_t data[64];
	size_t len = want ? take_hex(want, data) : 0;

	if (q->ecs_len != len || (len && memcmp(q->ecs, data, len)))
		return wrong("%u octets of a subnet go out", q->ecs_len);
	return 0;
}

static int do_upstream(struct world *w, struct statement *s)
{
	struct dns_key key;

	if (strcmp(s->word[1], "none") == 0)
		return w->outs ? wrong("%u questions are out", w->outs) : 0;
	if (take_key(s->word[1], s->word[2], &key))
		return -1;
	if (w->outs != 1)
		return wrong("%u questions are out", w->outs);
	if (strcmp(s->word[0], "upstream") == 0 && check_ecs(w->out[0], after(s, "ecs")))
		return -1;
	return is_key(&w->out[0]->key, &key) ? 0 : wrong("another question is out");
}

static int add_records(const struct statement *s, ldns_pkt *p)
{
	unsigned i;

	for (i = 0; i < s->records; i++) {
		bool auth = strncmp(s->record[i], "auth ", 5) == 0;
		ldns_rr *rr;

		if (ldns_rr_new_frm_str(&rr, s->record[i] + (auth ? 5 : 0), 0, NULL, NULL) != LDNS_STATUS_OK)
			return wrong("no record: %s", s->record[i]);
		ldns_pkt_push_rr(p, auth ? LDNS_SECTION_AUTHORITY : LDNS_SECTION_ANSWER, rr);
	}
	return 0;
}

static int do_answer(struct world *w, struct statement *s)
{
	uint8_t options[64];
	ldns_pkt *p;
	uint8_t *wire = NULL;
	size_t len;
	int err;

	if (do_upstream(w, s))
		return -1;
	p = ldns_pkt_query_new(ldns_dname_new_frm_str(s->word[1]), ldns_get_rr_type_by_name(s->word[2]),
			       LDNS_RR_CLASS_IN, LDNS_QR | LDNS_RD | LDNS_RA);
	ldns_pkt_set_ad(p, has(s, "ad"));
	if (after(s, "option")) {
		ldns_pkt_set_edns_udp_size(p, 1232);
		ldns_pkt_set_edns_data(p, ldns_rdf_new_frm_data(LDNS_RDF_TYPE_UNKNOWN, take_hex(after(s, "option"), options), options));
	}
	w->out[0]->upstream_trusted = has(s, "authentic");
	ldns_pkt_set_rcode(p, (uint8_t)ldns_lookup_by_name(ldns_rcodes, s->word[3])->id);
	err = add_records(s, p);
	if (!err && ldns_pkt2wire(&wire, p, &len) != LDNS_STATUS_OK)
		err = wrong("the answer could not be written");
	if (!err)
		world_answer(w, 0, wire, len);
	free(wire);
	ldns_pkt_free(p);
	return err;
}

static int do_fail(struct world *w, struct statement *s)
{
	if (do_upstream(w, s))
		return -1;
	world_answer(w, strcmp(s->word[3], "timeout") ? -ENETUNREACH : -ETIMEDOUT, NULL, 0);
	return 0;
}

static int compare_records(const struct statement *s, const ldns_pkt *p)
{
	size_t have = ldns_rr_list_rr_count(ldns_pkt_answer(p)) + ldns_rr_list_rr_count(ldns_pkt_authority(p)), j;
	unsigned i;

	if (have != s->records)
		return wrong("%zu records, %u were expected", have, s->records);
	for (i = 0; i < s->records; i++) {
		bool auth = strncmp(s->record[i], "auth ", 5) == 0, found = false;
		const ldns_rr_list *list = auth ? ldns_pkt_authority(p) : ldns_pkt_answer(p);
		ldns_rr *rr;

		if (ldns_rr_new_frm_str(&rr, s->record[i] + (auth ? 5 : 0), 0, NULL, NULL) != LDNS_STATUS_OK)
			return wrong("no record: %s", s->record[i]);
		for (j = 0; j < ldns_rr_list_rr_count(list) && !found; j++)
			found = ldns_rr_compare(ldns_rr_list_rr(list, j), rr) == 0 &&
				ldns_rr_ttl(ldns_rr_list_rr(list, j)) == ldns_rr_ttl(rr);
		ldns_rr_free(rr);
		if (!found)
			return wrong("not in the reply: %s", s->record[i]);
	}
	return 0;
}

/* The EDE of a reply, or -1. */
static int reply_ede(const ldns_pkt *p)
{
	const ldns_rdf *o = ldns_pkt_edns_data(p);

	if (!o || ldns_rdf_size(o) < 6 || ldns_rdf_data(o)[1] != 15)
		return -1;
	return ldns_rdf_data(o)[4] << 8 | ldns_rdf_data(o)[5];
}

static int compare_flags(const struct statement *s, const ldns_pkt *p, const struct world_client *c)
{
	static const char *const sources[] = { "none", "filter", "cache", "upstream", "self" };
	int want_ede = after(s, "ede") ? atoi(after(s, "ede")) : -1;

	if (after(s, "by") && strcmp(after(s, "by"), sources[c->source]))
		return wrong("answered by %s", sources[c->source]);
	if (ldns_pkt_tc(p) != has(s, "tc") || ldns_pkt_aa(p) != has(s, "aa") || ldns_pkt_ad(p) != has(s, "ad"))
		return wrong("TC, AA or AD is %d%d%d", ldns_pkt_tc(p), ldns_pkt_aa(p), ldns_pkt_ad(p));
	if (has(s, "ra") && !ldns_pkt_ra(p))
		return wrong("RA is clear");
	if (has(s, "noopt") && ldns_pkt_edns(p))
		return wrong("there is an OPT");
	if (has(s, "opt") && !ldns_pkt_edns(p))
		return wrong("there is no OPT");
	if (after(s, "option")) {
		const ldns_rdf *o = ldns_pkt_edns_data(p);
		uint8_t want[64];
		size_t len = take_hex(after(s, "option"), want);

		if (!o || ldns_rdf_size(o) != len || memcmp(ldns_rdf_data(o), want, len))
			return wrong("other options in the OPT");
	} else if (want_ede < 0 && ldns_pkt_edns_data(p)) {
		return wrong("options in the OPT");
	}
	if (reply_ede(p) != want_ede)
		return wrong("EDE is %d", reply_ede(p));
	if (after(s, "size") && c->reply_len > (size_t)atoi(after(s, "size")))
		return wrong("%zu octets", c->reply_len);
	return 0;
}

static int do_reply(struct world *w, struct statement *s)
{
	struct world_client *c = world_client(w, s->word[1], false);
	const ldns_lookup_table *rcode = ldns_lookup_by_name(ldns_rcodes, s->word[2]);
	unsigned want = rcode ? (unsigned)rcode->id : (unsigned)atoi(s->word[2]), have;
	ldns_pkt *p;
	int err;

	if (!c || !c->ended)
		return wrong("there is no reply");
	if (!c->reply_len || ldns_wire2pkt(&p, c->reply, c->reply_len) != LDNS_STATUS_OK)
		return wrong("the reply does not parse");
	have = ldns_pkt_get_rcode(p) | ldns_pkt_edns_extended_rcode(p) << 4;
	err = have == want ? 0 : wrong("rcode is %u", have);
	if (!err)
		err = compare_flags(s, p, c);
	if (!err)
		err = compare_records(s, p);
	if (err && getenv("V"))
		ldns_pkt_print(stdout, p);
	ldns_pkt_free(p);
	return err;
}

static int do_pending(struct world *w, struct statement *s)
{
	struct world_client *c = world_client(w, s->word[1], false);

	return c && !c->ended ? 0 : wrong("it does not wait");
}

static int do_silence(struct world *w, struct statement *s)
{
	struct world_client *c = world_client(w, s->word[1], false);

	return c && c->ended && !c->reply_len ? 0 : wrong("it is not silence");
}

static int do_abandon(struct world *w, struct statement *s)
{
	struct world_client *c = world_client(w, s->word[1], false);

	if (!c || !c->query)
		return wrong("it does not wait");
	query_abandon(c->query);
	return 0;
}

static int do_publish(struct world *w, struct statement *s)
{
	unsigned count = w->publishes;
	struct dns_key key;

	w->publishes = 0;
	if (strcmp(s->word[1], "none") == 0)
		return count ? wrong("%u answers were published", count) : 0;
	if (take_key(s->word[1], s->word[2], &key))
		return -1;
	key.bits = (has(s, "do") ? DNS_KEY_DO : 0) | (has(s, "cd") ? DNS_KEY_CD : 0);
	return count == 1 && dns_key_same(&w->published[0], &key) ? 0 : wrong("%u answers were published", count);
}

static int do_refresh(struct world *w, struct statement *s)
{
	struct dns_key key;

	if (take_key(s->word[1], s->word[2], &key))
		return -1;
	key.bits = has(s, "do") ? DNS_KEY_DO : 0;
	resolver_refresh(&w->resolver, &key, w->now_ns);
	return 0;
}

static int do_time(struct world *w, struct statement *s)
{
	w->now_ns += (uint64_t)(strtod(s->word[1], NULL) * (double)SECOND);
	return 0;
}

static int do_snapshot(struct world *w, struct statement *s)
{
	return world_snapshot(w) ? wrong("the policy could not be made") : 0;
}

static int do_crowd(struct world *w, struct statement *s)
{
	return world_crowd(w) ? wrong("no memory for a crowd") : 0;
}

static const struct verb {
	const char *word;
	unsigned least;			/* words, the verb included */
	int (*run)(struct world *w, struct statement *s);
} verbs[] = {
	{ "option", 3, do_option }, { "filter", 4, do_filter }, { "regex", 3, do_pattern },
	{ "address", 3, do_pattern }, { "rewrite", 3, do_rewrite }, { "pause", 2, do_pause },     { "ask", 4, do_ask },
	{ "raw", 2, do_raw },       { "upstream", 2, do_upstream }, { "answer", 4, do_answer },
	{ "fail", 4, do_fail },     { "reply", 3, do_reply },       { "pending", 2, do_pending },
	{ "silence", 2, do_silence }, { "abandon", 2, do_abandon }, { "publish", 2, do_publish },
	{ "refresh", 3, do_refresh }, { "time", 2, do_time },       { "snapshot", 1, do_snapshot },
	{ "crowd", 1, do_crowd },
};

static int run_statement(struct world *w, struct statement *s)
{
	unsigned i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].word, s->word[0]) == 0)
			return s->words < verbs[i].least ? wrong("too few words") : verbs[i].run(w, s);
	return wrong("unknown statement %s", s->word[0]);
}

/* ---- files ---- */

static void split(char *line, struct statement *s)
{
	char *save, *word;

	s->words = s->records = 0;
	for (word = strtok_r(line, " \t", &save); word && s->words < WORDS_MAX; word = strtok_r(NULL, " \t", &save))
		s->word[s->words++] = word;
}

static int run_file(struct world *w, FILE *f, unsigned *ret_line)
{
	struct statement s = { 0 };
	char *line = NULL, *copies[4096];
	size_t size = 0;
	unsigned number = 0, kept = 0;
	int err = 0, more = 1;

	while (!err && more) {
		more = getline(&line, &size, f) >= 0;
		number++;
		if (more)
			line[strcspn(line, "#\n")] = '\0';
		if (more && !line[strspn(line, " \t")])
			continue;
		if (more && (*line == ' ' || *line == '\t') && s.words && s.records < RECORDS_MAX) {
			copies[kept] = strdup(line + strspn(line, " \t"));
			s.record[s.records++] = copies[kept++];
			continue;
		}
		*ret_line = s.line;
		if (s.words)
			err = run_statement(w, &s);
		if (more && !err && kept < sizeof(copies) / sizeof(copies[0]) - RECORDS_MAX) {
			copies[kept] = strdup(line);
			s.line = number;
			split(copies[kept++], &s);
		}
	}
	while (kept)
		free(copies[--kept]);
	free(line);
	return err;
}

static int run_case(const char *folder, const char *name, unsigned number)
{
	char path[512], title[256];
	struct world *w = world_new();
	unsigned line = 0;
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(title, sizeof(title), "%.*s", (int)strlen(name) - 4, name);
	f = fopen(path, "re");
	err = f && w ? run_file(w, f, &line) : wrong("cannot be read");
	printf("%s %u - %s\n", err ? "not ok" : "ok", number, title);
	if (err)
		printf("# %s:%u: %s\n", path, line, fault);
	if (f)
		fclose(f);
	world_free(w);
	return err;
}

static int is_case(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return len > 4 && strcmp(d->d_name + len - 4, ".txt") == 0;
}

int main(int argc, char **argv)
{
	const char *folder = "tests/scenario/cases";
	struct dirent **names;
	int n = argc > 1 ? 0 : scandir(folder, &names, is_case, alphasort), i, failed = 0;

	for (i = 1; i < argc; i++)
		failed += run_case(folder, argv[i], (unsigned)i) != 0;
	for (i = 0; i < n; i++) {
		failed += run_case(folder, names[i]->d_name, (unsigned)i + 1) != 0;
		free(names[i]);
	}
	if (n > 0)
		free(names);
	printf("1..%d\n", argc > 1 ? argc - 1 : n);
	return failed || n < 0;
}
