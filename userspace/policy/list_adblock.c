/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_adblock.c - rules of ad blockers, as far as they say something about names.
 *
 * Such rules are patterns for URLs.  A resolver knows no more of an URL than
 * "http://name/", so that is what a pattern must match, as AdGuard's filter has
 * it: "||a.example^" is a name with all below, "|a.example^" and
 * "://a.example^" the very name, "||a.", "-ads." and "||ads.*^" regular
 * expressions about names, and whatever needs a path, a port or another scheme
 * matches nothing.
 */
#include "policy/idn.h"
#include "policy/list_read.h"

/* Where a pattern begins. */
enum start {
	START_ANYWHERE,			/* "ads." */
	START_NAME,			/* "|ads.", "://ads." */
	START_LABEL,			/* "||ads." */
};

struct pattern {
	struct list_span text;		/* between the marks of start and end */
	enum start start;
	bool end;			/* the name ends here */
	bool star_dot;			/* "*." stood in front of the text */
};

/* What a rule says apart from its pattern. */
struct rule_head {
	bool exception;			/* "@@" */
	struct list_modifiers m;
};

static enum filter_action action_of(const struct rule_head *h)
{
	if (h->exception)
		return h->m.important ? FILTER_IMPORTANT_ALLOW : FILTER_ALLOW;
	return h->m.important ? FILTER_IMPORTANT_BLOCK : FILTER_BLOCK;
}

static void give(struct list_reading *r, const struct rule_head *h, struct rule_item *item)
{
	item->action = action_of(h);
	item->badfilter = h->m.badfilter;
	item->condition = h->m.conditions ? &r->condition : NULL;
	item->answer = h->m.rewrite ? &r->answer : NULL;
	list_give(r, item);
}

static struct pattern cut_start(struct list_span s)
{
	struct pattern p = { .text = s };
	size_t n = 0;

	if (list_starts(s, "||")) {
		p.start = START_LABEL;
		n = 2;
	} else if (list_starts(s, "|http://") || list_starts(s, "http://") || list_starts(s, "://")) {
		p.start = START_NAME;
		n = *s.p == '|' ? 8 : *s.p == 'h' ? 7 : 3;
	} else if (*s.p == '|') {
		p.start = START_NAME;
		n = 1;
	}
	p.text.p += n;
	return p;
}

static bool cut_last(struct list_span *s, char c)
{
	if (s->p == s->end || s->end[-1] != c)
		return false;
	s->end--;
	return true;
}

/*
 * '^', '|', both, or the '/' that begins a path; a '*' behind them says nothing
 * more, one before them that the name goes on.
 */
static void cut_end(struct pattern *p, bool url)
{
	while (cut_last(&p->text, '*'))
		;
	p->end = cut_last(&p->text, '|');
	p->end |= cut_last(&p->text, '^') || (url && cut_last(&p->text, '/'));
	while (cut_last(&p->text, '*'))
		p->end = false;
}

static struct pattern split(struct list_span s)
{
	struct pattern p = { .text = s };

	if (s.p == s.end)
		return p;
	p = cut_start(s);
	/* "|a.example" is held against the name, all others against the URL, where a '/' follows it */
	cut_end(&p, p.start == START_LABEL || (p.start == START_NAME && (*s.p != '|' || list_starts(s, "|http://"))));
	if (p.start != START_ANYWHERE && list_starts(p.text, "*.") && !memchr(p.text.p + 1, '*', list_size(p.text) - 1)) {
		p.star_dot = true;
		p.text.p += 2;
	} else if (list_starts(p.text, "*")) {
		p.start = START_ANYWHERE;
	}
	while (list_starts(p.text, "*"))
		p.text.p++;
	/* ".a.example^" is what is below, too */
	if (p.start == START_ANYWHERE && p.end && list_starts(p.text, ".") && !list_has(p.text, '*')) {
		p.start = START_NAME;
		p.star_dot = true;
		p.text.p++;
	}
	return p;
}

/* "||1.2.3.4^": about answers. */
static bool take_address(struct list_reading *r, const struct pattern *p, const struct rule_head *h)
{
	struct rule_item item = { .kind = RULE_ADDRESS, .address.len = 128 };
	struct list_span s = p->text;
	const char *c;

	if (list_starts(s, "[") && s.end[-1] == ']') {
		s.p++;
		s.end--;
	}
	if (list_address_ip(s, item.address.ip)) {
		if (p->start == START_ANYWHERE)
			list_skip(r, LIST_SKIP_address);
		else if (h->m.rewrite)
			list_skip(r, LIST_SKIP_rewrite);
		else
			give(r, h, &item);
		return true;
	}
	/* "||10.0." begins addresses, and no name ends in a number */
	for (c = s.p; c < s.end && ((*c >= '0' && *c <= '9') || *c == '.');)
		c++;
	if (c < s.end || !list_has(s, '.'))
		return false;
	list_skip(r, LIST_SKIP_address);
	return true;
}

/* A whole name with both ends given. */
static void take_name(struct list_reading *r, const struct pattern *p, const struct rule_head *h)
{
	struct rule_item item = { .kind = RULE_NAME };

	if (!list_take_name(r, p->text))
		return;
	item.reach = p->star_dot ? RULE_BELOW : p->start == START_LABEL ? RULE_SUBTREE : RULE_EXACT;
	item.name = r->name.wire;
	item.name_len = (uint16_t)r->name.len;
	give(r, h, &item);
}

static char *put(char *to, const char *text)
{
	return stpcpy(to, text);
}

/* Write the pattern as a regular expression; 0 when it holds what no name holds, or is too long for one. */
static size_t write_regex(struct list_reading *r, const struct pattern *p)
{
	char *to = r->pattern;
	const char *c;

	if (list_size(p->text) > MR_NAME_MAX)
		return 0;
	to = put(to, p->start == START_LABEL ? "(?:^|\\.)" : p->start == START_NAME ? "^" : "");
	if (p->star_dot)
		to = put(to, ".*\\.");
	for (c = p->text.p; c < p->text.end; c++) {
		if (*c == '.')
			to = put(to, "\\.");
		else if (*c == '*')
			to = put(to, c[-1] == '*' ? "" : ".*");
		else if ((*c | 32) >= 'a' && (*c | 32) <= 'z')
			*to++ = (char)(*c | 32);
		else if (*c == '-' || *c == '_' || (*c >= '0' && *c <= '9'))
			*to++ = *c;
		else {
			list_fault(r, (struct list_span){ c, c + 1 }, "what names have: letters, digits, '-', '_', '.' and '*'");
			return 0;
		}
	}
	to = put(to, p->end ? "$" : "");
	return (size_t)(to - r->pattern);
}

/* Why a pattern that can be written is not taken: it would match about everything. */
static int too_wide(struct list_reading *r, const struct pattern *p, const struct rule_head *h)
{
	size_t marks = 0, stars = 0, n = list_size(p->text);
	const char *c;

	for (c = p->text.p; c < p->text.end; c++) {
		stars += *c == '*';
		marks += *c == '.' || *c == '-' || *c == '_' || *c == '*';
	}
	if (!h->m.conditions && n - stars < 3) {
		list_fault(r, p->text, "three characters of a name or more");
		return LIST_SKIP_path;
	}
	/* a bare word is prose, unless it says where in a name it stands */
	if (p->start == START_ANYWHERE && !p->end && !marks && n) {
		list_fault(r, p->text, "a name of two labels or more, or \"||name^\" for one of one label");
		return LIST_SKIP_single_label;
	}
	return 0;
}

static void take_part(struct list_reading *r, const struct pattern *p, const struct rule_head *h)
{
	struct rule_item item = { .kind = RULE_REGEX, .pattern = r->pattern };
	bool all = p->text.p == p->text.end && h->m.conditions;
	int bad = too_wide(r, p, h);

	item.pattern_len = write_regex(r, p);
	if (!item.pattern_len && !all)
		bad = idn_is_beyond_ascii(p->text.p, list_size(p->text)) ? LIST_SKIP_idn : LIST_SKIP_path;
	else if (r->format == LIST_AUTO && p->start == START_ANYWHERE && !p->end && !all && !list_has(p->text, '.'))
		bad = LIST_SKIP_path;
	if (bad) {
		list_skip(r, (enum list_skip)bad);
		return;
	}
	if (all) {
		item.pattern = "^";
		item.pattern_len = 1;
	}
	give(r, h, &item);
}

/* Letters of any language, digits, '-', '_' and '.'. */
static bool is_name_text(struct list_span s)
{
	for (; s.p < s.end; s.p++)
		if ((unsigned char)*s.p < 0x80 && !((*s.p | 32) >= 'a' && (*s.p | 32) <= 'z') &&
		    !(*s.p >= '0' && *s.p <= '9') &&
		    *s.p != '-' && *s.p != '_' && *s.p != '.')
			return false;
	return true;
}

/*
 * True when the text ends in what can only be a top label: letters alone, or
 * punycode, behind a dot.  "||ads.example.com" is meant as that name, though
 * to the letter it also begins "ads.example.community"; as a name the kernel
 * can hold it.
 */
static bool ends_in_top_label(struct list_span s)
{
	const char *dot = memrchr(s.p, '.', list_size(s)), *c;

	if (!dot || s.end - dot < 3)
		return false;
	if (list_starts((struct list_span){ dot + 1, s.end }, "xn--"))
		return true;
	for (c = dot + 1; c < s.end && (*c | 32) >= 'a' && (*c | 32) <= 'z';)
		c++;
	return c == s.end;
}

static void take_pattern(struct list_reading *r, struct list_span s, const struct rule_head *h)
{
	struct pattern p = split(s);

	if (list_size(p.text) && take_address(r, &p, h))
		return;
	p.end |= p.start != START_ANYWHERE && s.end == p.text.end && ends_in_top_label(p.text);
	/* "||ads.^" would need a name that ends in a dot */
	if (p.end && list_size(p.text) && p.text.end[-1] == '.' && !memchr(p.text.p, '.', list_size(p.text) - 1))
		list_skip(r, LIST_SKIP_path);
	else if (p.end && p.start != START_ANYWHERE && list_size(p.text) && is_name_text(p.text))
		take_name(r, &p, h);
	else
		take_part(r, &p, h);
}

/* The ']' of the class that begins at @p, or the last octet. */
static const char *end_of_class(const char *p, const char *end)
{
	/* a ']' in front is one of its members */
	p += end - p > 2 && p[1] == '^' ? 2 : 1;
	for (p++; p < end && *p != ']'; p++)
		p += *p == '\\';
	return p < end ? p : end - 1;
}

/*
 * True when each match of the expression holds a '/': then it is about paths.
 * Only what stands outside of groups and classes is looked at.
 */
static bool needs_slash(struct list_span s)
{
	bool found = false, escaped, slash;
	unsigned depth = 0;
	const char *p;

	for (p = s.p; p < s.end; p++) {
		if (*p == '[') {
			p = end_of_class(p, s.end);
			continue;
		}
		escaped = *p == '\\' && p + 1 < s.end;
		p += escaped;
		slash = *p == '/';
		if (escaped && !slash)
			continue;
		if (*p == '|' && !depth)
			return false;
		depth += *p == '(';
		depth -= *p == ')' && depth;
		if (slash && !depth && (p + 1 == s.end || !strchr("?*{", p[1])))
			found = true;
	}
	return found;
}

/* "/.../" */
static void take_expression(struct list_reading *r, struct list_span s, const struct rule_head *h)
{
	struct rule_item item = { .kind = RULE_REGEX, .pattern = s.p + 1, .pattern_len = list_size(s) - 2 };

	if (needs_slash((struct list_span){ s.p + 1, s.end - 1 })) {
		list_fault(r, s, "an expression about names, which have no '/'");
		list_skip(r, LIST_SKIP_path);
	} else
		give(r, h, &item);
}

/*
 * The '$' in front of modifiers, or NULL: the last one with no '\' before it; of
 * an expression the one behind its last '/'.
 */
static const char *find_modifiers(struct list_span s, bool *ret_expression)
{
	const char *p;

	*ret_expression = false;
	for (p = s.end - 1; p > s.p; p--) {
		if (*p != '$' || p[-1] == '\\' || p + 1 == s.end)
			continue;
		if (*s.p != '/')
			return p;
		if (p[-1] == '/' && p - s.p > 2 && list_has_modifier((struct list_span){ p, s.end })) {
			*ret_expression = true;
			return p;
		}
	}
	*ret_expression = *s.p == '/' && list_size(s) > 2 && s.end[-1] == '/';
	return *s.p == '$' && !*ret_expression ? s.p : NULL;
}

/* Bare names and hosts lines stand among rules, too. */
static bool take_bare(struct list_reading *r, struct list_span s)
{
	struct list_span bare = list_without_comment(s);

	if (r->format != LIST_ADBLOCK || *s.p == '|' || *s.p == '@' || *s.p == '/')
		return false;
	if (list_take_hosts(r, bare))
		return true;
	return list_has(bare, '.') && bare.end[-1] != '.' && list_take_domain(r, bare, false);
}

/* True for what nothing but an ad blocker would write: in a list of any format a bare word is prose. */
static bool has_marks(struct list_span s)
{
	return s.p == s.end || *s.p == '|' || *s.p == '/' || list_starts(s, "://") || list_has(s, '^') || list_has(s, '*');
}

bool list_take_adblock(struct list_reading *r, struct list_span s)
{
	struct rule_head h = { .exception = list_starts(s, "@@") };
	const char *dollar;
	bool expression;
	int bad = 0;

	if (list_is_cosmetic(s) || *s.p == '<')
		return false;
	if (take_bare(r, s))
		return true;
	if (*s.p != '/')
		s = list_without_remark(s);
	if (h.exception)
		s.p += 2;
	if (s.p >= s.end || *s.p == '@') {
		list_fault(r, (struct list_span){ s.p, s.end }, "a name or pattern behind \"@@\"");
		list_skip(r, LIST_SKIP_syntax);
		return true;
	}
	dollar = find_modifiers(s, &expression);
	if (dollar) {
		bad = list_modifiers_read(r, (struct list_span){ dollar + 1, s.end }, h.exception, &h.m);
		s.end = dollar;
	}
	if (!bad && !expression && (list_has(s, ' ') || list_has(s, '\t')))
		return false;
	if (r->format == LIST_AUTO && !h.exception && !dollar && !has_marks(s))
		return false;
	if (bad)
		list_skip(r, (enum list_skip)bad);
	else if (expression)
		take_expression(r, s, &h);
	else
		take_pattern(r, s, &h);
	return true;
}
