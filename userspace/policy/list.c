/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c - reads lists line by line, and counts.
 *
 * Nearly every line of a big list is a bare name, a sink address with a name,
 * or "||name^": those are taken in one pass that does not even look for the
 * end of the line.  All others go to the formats (list_read.h).
 */
#include <errno.h>
#include <string.h>
#include "policy/list_read.h"

#define LINE_MAX_BYTES 65536

const char *const list_skip_names[LIST_SKIP_COUNT] = {
#define ROW(name, text) #name,
	LIST_SKIPS(ROW)
#undef ROW
};

const char *const list_skip_texts[LIST_SKIP_COUNT] = {
#define ROW(name, text) text,
	LIST_SKIPS(ROW)
#undef ROW
};

const char *const list_format_names[LIST_FORMATS] = {
	"auto", "domains", "hosts", "adblock", "wildcard", "dnsmasq", "unbound", "rpz", "regex",
};

void list_skip(struct list_reading *r, enum list_skip why)
{
	uint64_t n = r->report->skipped[why]++;
	char *to;
	size_t i;

	if (n >= LIST_EXAMPLES || why == LIST_SKIP_empty)
		return;
	r->report->example[why][n].line = r->report->lines;
	to = r->report->example[why][n].text;
	for (i = 0; i < sizeof(r->report->example[why][n].text) - 1 && r->line.p + i < r->line.end; i++)
		to[i] = r->line.p[i] < ' ' || r->line.p[i] > '~' ? '?' : r->line.p[i];
	to[i] = '\0';
}

static uint64_t *counter_of(struct list_report *c, const struct rule_item *i)
{
	if (i->badfilter)
		return &c->bad;
	if (i->kind == RULE_ROUTE)
		return &c->route;
	if (i->answer)
		return &c->rewrite;
	if (i->kind != RULE_NAME)
		return i->kind == RULE_REGEX ? &c->regex : &c->address;
	if (i->action == FILTER_ALLOW || i->action == FILTER_IMPORTANT_ALLOW)
		return &c->allow;
	return i->reach == RULE_EXACT ? &c->exact : &c->subtree;
}

/* False when the item has no place in a list of what is allowed. */
static bool turn_around(struct rule_item *i)
{
	bool blocks = i->action == FILTER_BLOCK || i->action == FILTER_IMPORTANT_BLOCK;

	if (i->kind == RULE_ROUTE || !blocks)
		return true;
	if (i->answer)
		return false;
	i->action = i->action == FILTER_BLOCK ? FILTER_ALLOW : FILTER_IMPORTANT_ALLOW;
	return true;
}

void list_give(struct list_reading *r, struct rule_item *i)
{
	int err;

	if (r->allow && !turn_around(i)) {
		list_skip(r, LIST_SKIP_rewrite);
		return;
	}
	i->line = r->report->lines;
	i->text = r->line.p;
	i->text_len = list_size(r->line);
	err = r->sink(r->arg, i);
	if (err > 0)
		++*counter_of(r->report, i);
	else if (err == 0)
		r->report->duplicates++;
	else if (err == -ENAMETOOLONG)
		list_skip(r, LIST_SKIP_deep);
	else if (err == -EINVAL && i->kind == RULE_REGEX) {
		list_fault(r, (struct list_span){ i->pattern, i->pattern + i->pattern_len }, "a regular expression of PCRE2");
		list_skip(r, LIST_SKIP_regex);
	}
	else if (err == -ENOSPC)
		list_skip(r, LIST_SKIP_full);
	else
		r->err = err;
}

void list_give_name(struct list_reading *r, enum rule_reach reach, enum filter_action action)
{
	struct rule_item item = {
		.kind = RULE_NAME, .action = action, .reach = reach, .name = r->name.wire, .name_len = (uint16_t)r->name.len,
	};

	list_give(r, &item);
}

void list_give_answer(struct list_reading *r, enum rule_reach reach)
{
	struct rule_item item = {
		.kind = RULE_NAME, .action = FILTER_BLOCK, .reach = reach, .answer = &r->answer,
		.name = r->name.wire, .name_len = (uint16_t)r->name.len,
	};

	list_give(r, &item);
}

/* Hand on r->name, which the list sends to its own sink. */
static void give_sunk(struct list_reading *r, enum rule_reach reach)
{
	r->report->sunk++;
	memcpy(r->report->sink, r->own_sink, sizeof(r->own_sink));
	list_give_name(r, reach, FILTER_BLOCK);
}

void list_give_address(struct list_reading *r, enum rule_reach reach, struct list_span address)
{
	enum list_address kind = LIST_ADDRESS_OTHER;
	uint8_t ip[16];

	list_is_address(address, &kind);
	/* at the first address that is no sink: most lists have none */
	if (kind == LIST_ADDRESS_OTHER && !r->allow && !r->looked) {
		r->looked = true;
		r->has_sink = list_sink_find(r->text, r->own_sink);
	}
	/* whoever allows a name in hosts format does not mean its address */
	if (kind == LIST_ADDRESS_SINK || r->allow) {
		list_give_name(r, reach, FILTER_BLOCK);
	} else if (list_address_ip(address, ip) && r->has_sink && !memcmp(ip, r->own_sink, sizeof(ip))) {
		r->own_text = address;
		give_sunk(r, reach);
	} else if (list_address_ip(address, ip)) {
		list_answer_address(r, ip);
		list_give_answer(r, reach);
	} else {
		list_skip(r, LIST_SKIP_rewrite);
	}
}

bool list_take_name(struct list_reading *r, struct list_span word)
{
	int bad = list_name_read(word, &r->name);

	if (bad)
		list_fault_name(r, word);
	if (bad)
		list_skip(r, list_is_address(word, NULL) ? LIST_SKIP_address : (enum list_skip)bad);
	return !bad;
}

/* What a line of no format, or of one in AUTO that looks like another, is. */
static bool take_any(struct list_reading *r, struct list_span s)
{
	struct list_span bare;

	if ((r->zone.in_parentheses || *s.p == '$' || list_starts(s, "@ ") || list_starts(s, "@\t")) && list_take_rpz(r, s))
		return true;
	if (*s.p == '|' || *s.p == '@' || *s.p == '/')
		return list_take_adblock(r, s);
	if (list_is_cosmetic(s) || *s.p == '<')
		return false;
	bare = list_without_comment(s);
	/* dnsmasq first: some of its options are words that look like names of one label */
	if (list_take_dnsmasq(r, s) || list_take_hosts(r, bare) || list_take_domain(r, bare, false) ||
	    list_take_unbound(r, s) || list_take_rpz(r, s))
		return true;
	if (list_looks_like_regex(s))
		return list_take_regex(r, s);
	return list_take_adblock(r, s);
}

static bool take(struct list_reading *r, struct list_span s)
{
	switch (r->format) {
	case LIST_ADBLOCK:
		return list_take_adblock(r, s);
	case LIST_HOSTS:
		return list_take_hosts(r, list_without_comment(s));
	case LIST_DOMAINS:
		return list_take_domain(r, list_without_comment(s), false);
	case LIST_WILDCARD:
		return list_take_domain(r, list_without_comment(s), true);
	case LIST_DNSMASQ:
		return list_take_dnsmasq(r, s);
	case LIST_UNBOUND:
		return list_take_unbound(r, s);
	case LIST_RPZ:
		return list_take_rpz(r, s);
	case LIST_REGEX:
		return list_take_regex(r, s);
	default:
		return take_any(r, s);
	}
}

static bool is_remark(const struct list_reading *r, struct list_span s)
{
	/* "[a-z]" and "!" begin regular expressions as well as anything else */
	return r->format == LIST_REGEX ? *s.p == '#' : list_is_remark(s);
}

static void judge(struct list_reading *r, struct list_span s)
{
	const char *start = s.p;

	r->fault.expected = NULL;
	if (s.end - s.p > LINE_MAX_BYTES) {
		r->line.end = r->line.p + 80;
		list_skip(r, LIST_SKIP_too_long);
		return;
	}
	while (s.p < s.end && s.end[-1] == '\r')
		s.end--;
	s = list_trim(s);
	r->line = s;
	r->indented = s.p > start;
	if (s.p == s.end || is_remark(r, s))
		list_skip(r, LIST_SKIP_empty);
	else if (!take(r, s)) {
		list_fault_line(r, s, list_why(s));
		list_skip(r, list_why(s));
	}
}

/* Which short ways a format knows. */
enum { FAST_NAME = 1, FAST_HOSTS = 2, FAST_RULE = 4, FAST_BELOW = 8 };
static const uint8_t fast_ways[LIST_FORMATS] = {
	[LIST_AUTO] = FAST_NAME | FAST_HOSTS | FAST_RULE, [LIST_DOMAINS] = FAST_NAME, [LIST_HOSTS] = FAST_HOSTS,
	[LIST_ADBLOCK] = FAST_NAME | FAST_HOSTS | FAST_RULE, [LIST_WILDCARD] = FAST_NAME | FAST_BELOW,
};

/* Where the name of a line begins when it is of a common form, else NULL; the reach it gives goes to @ret. */
static const char *find_name(const char *p, const char *end, unsigned ways, enum rule_reach *ret)
{
	*ret = ways & FAST_BELOW ? RULE_SUBTREE : RULE_EXACT;
	if (end - p < 12)
		return NULL;
	if ((ways & FAST_HOSTS) && *p <= '1') {
		if (!memcmp(p, "0.0.0.0 ", 8))
			return p + 8;
		if (!memcmp(p, "127.0.0.1 ", 10))
			return p + 10;
	}
	if ((ways & FAST_RULE) && p[0] == '|' && p[1] == '|') {
		*ret = RULE_SUBTREE;
		return p + 2;
	}
	if (!(ways & FAST_NAME))
		return NULL;
	if (p[0] == '*' && p[1] == '.') {
		*ret = RULE_SUBTREE;
		return p + 2;
	}
	return p;
}

/*
 * Take a line of a common form that has a good name, and return its end; NULL
 * when it is to be looked at with more care.
 */
static const char *take_fast(struct list_reading *r, const char *line, const char *end)
{
	size_t sink = fast_ways[r->format] & FAST_HOSTS ? list_size(r->own_text) : 0;
	enum rule_reach reach = RULE_EXACT;
	const char *p;

	if (sink && ((size_t)(end - line) <= sink || line[sink] != ' ' || memcmp(line, r->own_text.p, sink)))
		sink = 0;
	if (sink)
		p = line + sink + 1;
	else
		p = find_name(line, end, fast_ways[r->format], &reach);
	if (!p)
		return NULL;
	p += list_name_scan(p, end, &r->name);
	if (!r->name.len || r->name.labels == 1 || r->name.labels > MR_LABELS_MAX)
		return NULL;
	if (*line == '|' && (p == end || *p++ != '^'))
		return NULL;
	r->line = (struct list_span){ line, p };
	if (p < end && *p == '\r')
		p++;
	if ((p < end && *p != '\n') || list_name_is_local(&r->name))
		return NULL;
	if (sink)
		give_sunk(r, reach);
	else
		list_give_name(r, reach, FILTER_BLOCK);
	return p;
}

int list_parse(const char *text, size_t size, enum list_format format, bool allow, list_sink sink, void *arg,
	       struct list_report *ret)
{
	struct list_reading r = { .format = format, .allow = allow, .sink = sink, .arg = arg, .report = ret,
				  .text = { text, text + size } };
	const char *p = text, *end = text + size, *eol;

	if (size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (; p < end && !r.err; p = eol + 1) {
		ret->lines++;
		eol = r.zone.in_parentheses ? NULL : take_fast(&r, p, end);
		if (eol)
			continue;
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		r.line = (struct list_span){ p, eol };
		judge(&r, r.line);
	}
	list_fault_report(&r);
	return r.err;
}
