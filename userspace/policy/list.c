/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c - judges the lines of block lists.
 *
 * A line is looked at once for a name; only lines that give none are looked at
 * again, for the reason (list_line.c).  Pointers run over the text, nothing is
 * copied but the name.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include "policy/list.h"
#include "policy/list_line.h"

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

/* Letters, digits, '-' and '_' as they stand in a lower-case name; 0: no part of a name. */
static const uint8_t name_char[256] = {
	['-'] = '-', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6',
	['7'] = '7', ['8'] = '8', ['9'] = '9', ['_'] = '_',
	['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h',
	['I'] = 'i', ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p',
	['Q'] = 'q', ['R'] = 'r', ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x',
	['Y'] = 'y', ['Z'] = 'z',
	['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h',
	['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p',
	['q'] = 'q', ['r'] = 'r', ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x',
	['y'] = 'y', ['z'] = 'z',
};

struct reading {
	enum list_format format;
	bool allow;
	list_sink sink;
	void *arg;
	struct list_report *report;
	struct list_span line;		/* for examples */
	int err;			/* the sink's */
};

static void skip(struct reading *r, enum list_skip why)
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

/* A name in wire form as it is being read. */
struct wire {
	uint8_t text[256];
	unsigned len;			/* root byte included */
	unsigned labels;
};

/* True when the label is made of digits alone. */
static bool is_number(const uint8_t *label)
{
	unsigned i;

	for (i = 1; i <= label[0]; i++)
		if (label[i] < '0' || label[i] > '9')
			return false;
	return true;
}

/*
 * Read a name with or without its final dot.  Returns 0; LIST_SKIP_syntax for
 * anything but letters, digits, '-' and '_' in labels of 1 to 63, over 255 in
 * all, a top label of digits alone (RFC 3696 section 2) or a label with '-' at
 * its start; LIST_SKIP_deep.
 */
static int read_name(struct list_span s, struct wire *ret)
{
	unsigned at = 0, n = 0, labels = 0;
	uint8_t c;

	if (s.end > s.p && s.end[-1] == '.')
		s.end--;
	if (s.p >= s.end || s.end - s.p > 253)
		return LIST_SKIP_syntax;
	for (; s.p < s.end; s.p++) {
		c = name_char[(uint8_t)*s.p];
		if (c) {
			ret->text[at + ++n] = c;
			continue;
		}
		if (*s.p != '.' || !n || n > 63)
			return LIST_SKIP_syntax;
		ret->text[at] = (uint8_t)n;
		if (ret->text[at + 1] == '-')
			return LIST_SKIP_syntax;
		at += n + 1;
		n = 0;
		labels++;
	}
	if (!n || n > 63 || ret->text[at + 1] == '-')
		return LIST_SKIP_syntax;
	ret->text[at] = (uint8_t)n;
	if (is_number(ret->text + at))
		return LIST_SKIP_syntax;
	ret->text[at + n + 1] = 0;
	ret->len = at + n + 2;
	ret->labels = labels + 1;
	return ret->labels > MR_LABELS_MAX ? LIST_SKIP_deep : 0;
}

static void give(struct reading *r, const struct wire *w, bool subtree, bool allow)
{
	struct rule_item item = {
		.kind = RULE_NAME, .action = allow || r->allow ? FILTER_ALLOW : FILTER_BLOCK,
		.reach = subtree ? RULE_SUBTREE : RULE_EXACT, .name = w->text, .name_len = (uint16_t)w->len,
		.line = r->report->lines, .text = r->line.p, .text_len = (size_t)(r->line.end - r->line.p),
	};
	int err = r->sink(r->arg, &item);

	if (err == 0)
		r->report->duplicates++;
	else if (err == -ENAMETOOLONG)
		skip(r, LIST_SKIP_deep);
	else if (err < 0)
		r->err = err;
	else if (item.action == FILTER_ALLOW)
		r->report->allow++;
	else if (subtree)
		r->report->subtree++;
	else
		r->report->exact++;
}

/* Names of a hosts file that mean the machine itself or its network. */
static bool is_local_name(const struct wire *w)
{
	static const char *const names[] = {
		"\011localhost", "\011localhost\013localdomain", "\013localdomain", "\005local", "\010loopback", "\015broadcasthost", "\015ip6-localhost",
		"\014ip6-loopback", "\014ip6-localnet", "\016ip6-mcastprefix", "\014ip6-allnodes", "\016ip6-allrouters", "\014ip6-allhosts",
	};
	unsigned i;

	if (w->labels > 2 || (w->labels == 2 && w->len != sizeof("xlocalhostxlocaldomainx") - 1))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (w->len == strlen(names[i]) + 1 && !memcmp(w->text, names[i], w->len))
			return true;
	return false;
}

/* A name of a plain list or a hosts line: the rules against junk hold. */
static void take_plain(struct reading *r, struct list_span s, bool subtree, enum list_address address)
{
	struct wire w;
	int bad = read_name(s, &w);

	if (bad && list_is_address(s, NULL))
		bad = s.end - s.p == 7 && !memcmp(s.p, "0.0.0.0", 7) ? LIST_SKIP_local_name : LIST_SKIP_address;
	else if (!bad && is_local_name(&w))
		bad = LIST_SKIP_local_name;
	else if (!bad && w.labels == 1)
		bad = LIST_SKIP_single_label;
	else if (!bad && address == LIST_ADDRESS_OTHER)
		bad = LIST_SKIP_rewrite;
	if (bad)
		skip(r, (enum list_skip)bad);
	else
		give(r, &w, subtree, false);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The text up to the next blank; *at moves behind it and the blanks that follow. */
static struct list_span next_word(const char **at, const char *end)
{
	struct list_span s = { *at, *at };

	while (s.end < end && !is_blank(*s.end))
		s.end++;
	for (*at = s.end; *at < end && is_blank(**at);)
		++*at;
	return s;
}

/* "||name^", "||name^|", "|name^", with or without "@@" in front; anything else is left to list_why(). */
static bool take_adblock(struct reading *r, struct list_span s)
{
	bool allow = s.end - s.p > 2 && s.p[0] == '@' && s.p[1] == '@', subtree;
	struct wire w;
	const char *p;
	int bad;

	if (allow)
		s.p += 2;
	if (s.p >= s.end || *s.p != '|')
		return false;
	subtree = s.end - s.p > 1 && s.p[1] == '|';
	s.p += subtree ? 2 : 1;
	p = memchr(s.p, '^', (size_t)(s.end - s.p));
	if (!p || (p + 1 < s.end && !(p[1] == '|' && p + 2 == s.end) && !list_is_comment(p + 1, s.end)))
		return false;
	s.end = p;
	if (memchr(s.p, '/', (size_t)(s.end - s.p)) || memchr(s.p, '*', (size_t)(s.end - s.p)) || s.p == s.end)
		return false;
	bad = read_name(s, &w);
	/* "||ads.^" is a pattern for the start of names, not the top label "ads" */
	if (!bad && w.labels == 1 && s.end[-1] == '.')
		return false;
	if (bad && list_is_address(s, NULL))
		bad = LIST_SKIP_address;
	if (bad)
		skip(r, (enum list_skip)bad);
	else
		give(r, &w, subtree, allow);
	return true;
}

/* "address name [name ...]"; false when the first word is no address. */
static bool take_hosts(struct reading *r, struct list_span s)
{
	enum list_address address = LIST_ADDRESS_SINK;
	const char *at = s.p;
	struct list_span word = next_word(&at, s.end);

	if (!list_is_address(word, &address) || at == s.end)
		return false;
	while (at < s.end && !r->err) {
		word = next_word(&at, s.end);
		take_plain(r, word, false, address);
	}
	return true;
}

/* One word alone: a name, or "*." and a name. */
static bool take_domain(struct reading *r, struct list_span s)
{
	bool subtree = s.end - s.p > 2 && s.p[0] == '*' && s.p[1] == '.';
	struct wire w;

	if (subtree)
		s.p += 2;
	if (memchr(s.p, ' ', (size_t)(s.end - s.p)) || memchr(s.p, '\t', (size_t)(s.end - s.p)))
		return false;
	if (read_name(s, &w) == LIST_SKIP_syntax && !list_is_address(s, NULL))
		return false;
	take_plain(r, s, subtree, LIST_ADDRESS_SINK);
	return true;
}

static bool take(struct reading *r, struct list_span s)
{
	bool rule = *s.p == '|' || *s.p == '@';

	switch (r->format) {
	case LIST_ADBLOCK:
		return take_adblock(r, s);
	case LIST_HOSTS:
		return take_hosts(r, list_without_comment(s));
	case LIST_DOMAINS:
		return take_domain(r, list_without_comment(s));
	default:
		if (rule)
			return take_adblock(r, s);
		s = list_without_comment(s);
		return take_hosts(r, s) || take_domain(r, s);
	}
}

static void judge(struct reading *r, struct list_span s)
{
	if (s.end - s.p > LINE_MAX_BYTES) {
		r->line.end = r->line.p + 80;
		skip(r, LIST_SKIP_too_long);
		return;
	}
	while (s.p < s.end && (is_blank(s.end[-1]) || s.end[-1] == '\r'))
		s.end--;
	while (s.p < s.end && is_blank(*s.p))
		s.p++;
	r->line = s;
	if (s.p == s.end || list_is_remark(s))
		skip(r, LIST_SKIP_empty);
	else if (!take(r, s))
		skip(r, list_why(s));
}

int list_parse(const char *text, size_t size, enum list_format format, bool allow, list_sink sink, void *arg,
	       struct list_report *ret)
{
	struct reading r = { .format = format, .allow = allow, .sink = sink, .arg = arg, .report = ret };
	const char *p = text, *end = text + size, *eol;

	if (size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (; p < end && !r.err; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		ret->lines++;
		r.line = (struct list_span){ p, eol };
		judge(&r, r.line);
	}
	return r.err;
}

/* The text from its first letter that is no blank, and without a byte order mark. */
static bool begins_with(const char *text, size_t size, const char *what)
{
	const char *end = text + size;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (text < end && (is_blank(*text) || *text == '\r' || *text == '\n'))
		text++;
	return (size_t)(end - text) >= strlen(what) && !strncasecmp(text, what, strlen(what));
}

const char *list_refuse(const char *text, size_t size)
{
	if (size >= 2 && !memcmp(text, "\x1f\x8b", 2))
		return "it is compressed";
	if (memchr(text, 0, size))
		return "it is not text";
	if (begins_with(text, size, "<!doctype html") || begins_with(text, size, "<html"))
		return "it is an HTML page";
	return NULL;
}
