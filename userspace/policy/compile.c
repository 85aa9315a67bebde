/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compile.c - sorts items into the table of names and the special rules, and
 * brings the two together.
 *
 * The builder of names knows hashes alone, so the text of exact names is kept
 * until the end: they are matched against the regular expressions then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/sum.h"
#include "policy/compile.h"
#include "policy/filter_build.h"
#include "policy/regex.h"
#include "policy/rules_room.h"

#define BLOCK_SIZE     65536
#define RULES_FILE_MAX (1ULL << 30)
#define SETTLE_EACH    (1U << 20)
#define HEAVY_MAX      (100U << 20)	/* steps of heavy patterns, half a second of them */

/* Wire names behind each other, each ended by its root byte. */
struct name_block {
	struct name_block *next;
	size_t used;
	uint8_t octets[BLOCK_SIZE - 2 * sizeof(void *)];
};
_Static_assert(sizeof(struct name_block) == BLOCK_SIZE, "a block of names has grown");

struct compile {
	struct filter_builder *names;
	struct rules_builder *builder;
	struct rules *rules;		/* once they are made */
	struct name_block *exact;
	struct filter_slab *slabs;	/* of the blocks of names */
	unsigned lists;
	uint64_t lines[FILTER_LISTS_MAX];	/* of rules that came one by one */
	struct list_report report;	/* of the rule that came last */
};

struct compile *compile_new(const struct mr_secret *secret)
{
	struct compile *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->names = filter_builder_new(secret);
	c->builder = rules_builder_new();
	if (!c->names || !c->builder) {
		compile_free(c);
		return NULL;
	}
	return c;
}

void compile_lists(struct compile *c, unsigned lists)
{
	c->lists = lists;
	rules_builder_lists(c->builder, lists);
}

void compile_local(struct compile *c, unsigned source)
{
	c->names->local = source;
}

static void free_exact(struct compile *c)
{
	c->exact = NULL;
	filter_slab_free(&c->slabs);
}

void compile_free(struct compile *c)
{
	if (!c)
		return;
	filter_builder_free(c->names);
	rules_builder_free(c->builder);
	rules_free(c->rules);
	free_exact(c);
	free(c);
}

/* ---- items ---- */

static int keep_exact(struct compile *c, const uint8_t *name, uint16_t len)
{
	struct name_block *b = c->exact;

	if (!b || sizeof(b->octets) - b->used < len) {
		b = filter_slab_take(&c->slabs, sizeof(*b));
		if (!b)
			return -ENOMEM;
		b->next = c->exact;
		b->used = 0;
		c->exact = b;
	}
	memcpy(b->octets + b->used, name, len);
	b->used += len;
	return 0;
}

struct sink {
	struct compile *c;
	unsigned source;
	uint64_t line;			/* 0: as the item says */
	unsigned taken;			/* items that were new, or there already */
};

static int take_special(struct sink *s, const struct rule_item *item)
{
	struct rule_item copy = *item;

	if (s->line)
		copy.line = s->line;
	return rules_builder_add(s->c->builder, &copy, s->source);
}

static int take_name(struct sink *s, const struct rule_item *i)
{
	int err = filter_builder_put(s->c->names, i->name, i->name_len, i->reach, s->source, i->action);

	if (!err && i->reach == RULE_EXACT)
		err = keep_exact(s->c, i->name, i->name_len);
	return err ? err : 1;
}

static int take(void *arg, const struct rule_item *i)
{
	struct sink *s = arg;
	int err = 1;

	/* plain, or about the names below alone: a marked member */
	if (i->kind == RULE_NAME && !i->badfilter && !i->condition && !i->answer)
		err = take_name(s, i);
	else if (i->kind != RULE_ROUTE)
		err = take_special(s, i);
	s->taken += err >= 0;
	return err;
}

static uint64_t take_from(uint64_t *count, uint64_t less)
{
	less = less < *count ? less : *count;
	*count -= less;
	return less;
}

int compile_list(struct compile *c, unsigned source, const char *text, size_t size, enum list_format format,
		 bool allow, struct list_report *ret)
{
	struct filter_repeats before = { 0 }, r = { 0 };
	struct sink s = { .c = c, .source = source };
	int err = filter_builder_settle(c->names, &before);

	if (!err)
		err = list_parse(text, size, format, allow, take, &s, ret);
	if (!err)
		err = filter_builder_settle(c->names, &r);
	if (err)
		return err;
	/* names were counted as new while they were read */
	ret->duplicates += take_from(&ret->exact, r.exact) + take_from(&ret->subtree, r.subtree) +
			   take_from(&ret->allow, r.allow);
	return 0;
}

static const char *why_nothing(const struct list_report *r)
{
	unsigned i;

	for (i = 0; i < LIST_SKIP_COUNT; i++)
		if (r->skipped[i])
			return list_skip_texts[i];
	return r->route ? "a server for a zone, which is no rule of the filter" : list_skip_texts[LIST_SKIP_empty];
}

/* Say what is wrong with a rule, where in it if that is known, and what was expected. */
static int say_bad(const struct list_report *r, const char *text, struct err_at *reterr)
{
	const struct list_fault *f = &r->fault;
	size_t at = f->offset, size = f->size, in;
	char why[160];

	if (!f->expected)
		return err_why(reterr, -EINVAL, "%s", why_nothing(r));
	snprintf(why, sizeof(why), "%s", why_nothing(r));
	if (r->skipped[LIST_SKIP_regex] && regex_wrong(text + at, size, &in, why, sizeof(why))) {
		at += in;
		size = in < size ? size - in : 0;
	}
	if (!size)
		return err_why(reterr, -EINVAL, "column %zu, the end: %s; expected %s", at + 1, why, f->expected);
	return err_why(reterr, -EINVAL, "column %zu, \"%.*s\": %s; expected %s", at + 1, size < 60 ? (int)size : 60, text + at, why,
		       f->expected);
}

int compile_rule(struct compile *c, unsigned source, const char *text, struct err_at *reterr)
{
	struct sink s = { .c = c, .source = source };
	int err;

	if (source >= FILTER_LISTS_MAX)
		return err_why(reterr, -EINVAL, "too many sources of rules");
	if (strpbrk(text, "\r\n"))
		return err_why(reterr, -EINVAL, "a rule is one line");
	s.line = ++c->lines[source];
	memset(&c->report, 0, sizeof(c->report));
	err = list_parse(text, strlen(text), LIST_AUTO, false, take, &s, &c->report);
	if (err)
		return err_why(reterr, err, "the rule cannot be taken: %s", strerror(-err));
	if (!s.taken || c->report.route)
		return say_bad(&c->report, text, reterr);
	return 0;
}

int compile_item(struct compile *c, unsigned source, const struct rule_item *item)
{
	struct filter_repeats before = { 0 }, r = { 0 };
	struct sink s = { .c = c, .source = source };
	int err = filter_builder_settle(c->names, &before), took;

	if (err)
		return err;
	took = take(&s, item);
	if (took <= 0)
		return took;
	err = filter_builder_settle(c->names, &r);
	return err ? err : !(r.exact + r.subtree + r.allow);
}

/* ---- bringing names and rules together ---- */

static int take_back(const struct rule_node *n, void *arg)
{
	const struct compile *c = arg;

	return filter_builder_remove(c->names, n->name, n->name_len, n->rule.reach, n->rule.action,
				     n->rule.source < c->lists ? c->lists : FILTER_LISTS_MAX);
}

/* A name deeper than the table's: all below the parent that it can hold are asked about. */
static int ask_about_parent(struct compile *c, const struct rule_node *n)
{
	const uint8_t *p = n->name;
	unsigned labels = n->rule.labels;

	for (; labels > MR_LABELS_MAX; labels--)
		p += *p + 1;
	return filter_builder_put(c->names, p, (uint16_t)(n->name + n->name_len - p), RULE_SUBTREE, n->rule.source,
				  FILTER_ASK);
}

/* The kernel asks about names of special rules. */
static int ask_about_names(struct compile *c)
{
	const struct rule_node *n;
	unsigned i;
	int err = 0;

	for (i = 0; i < c->rules->count && !err; i++) {
		n = c->rules->node[i];
		if (n->rule.kind != RULE_NAME || rule_strength(&n->rule) == MR_NONE)
			continue;
		if (n->rule.labels > MR_LABELS_MAX)
			err = ask_about_parent(c, n);
		else
			err = filter_builder_put(c->names, n->name, n->name_len, n->rule.reach, n->rule.source, FILTER_ASK);
	}
	return err;
}

struct matching {
	struct compile *c;
	const uint8_t *name;
	uint16_t len;
	unsigned put;			/* members since the last time that repeats were dropped */
	uint16_t source[FILTER_LISTS_MAX];	/* those that have patterns */
	unsigned sources;
	int err;
};

static void add_member(const struct rule *rule, void *arg)
{
	struct matching *m = arg;

	if (m->err || rule_strength(rule) == MR_NONE)
		return;
	m->put++;
	m->err = filter_builder_put(m->c->names, m->name, m->len, RULE_EXACT, rule->source,
				    rule->condition || rule->answer ? FILTER_ASK : rule->action);
}

/* What patterns say of the name is found out when it is asked for. */
static void ask_about_name(struct matching *m)
{
	unsigned i;

	for (i = 0; i < m->sources && !m->err; i++)
		m->err = filter_builder_put(m->c->names, m->name, m->len, RULE_EXACT, m->source[i], FILTER_ASK);
	m->put += m->sources;
}

static void note_sources(struct matching *m)
{
	unsigned i;

	for (i = 0; i < FILTER_LISTS_MAX; i++)
		if (rules_regex_strength(m->c->rules, i) != MR_NONE)
			m->source[m->sources++] = (uint16_t)i;
}

/* Many patterns of a source may say the same of a name: memory is for what they say, not for how often. */
static void drop_repeats(struct matching *m)
{
	struct filter_repeats unused = { 0 };

	if (m->put < SETTLE_EACH)
		return;
	m->put = 0;
	m->err = filter_builder_settle(m->c->names, &unused);
}

/*
 * Patterns are tried on exact names here, so that the kernel answers these.
 * Hostile ones take a tenth of a millisecond for each name, minutes for a list
 * of a million: once that shows, the daemon is asked about the names left.
 */
static int match_exact_names(struct compile *c)
{
	struct matching m = { .c = c };
	const struct name_block *b;
	const uint8_t *p;
	uint32_t steps;

	note_sources(&m);
	for (b = c->exact; b && !m.err; b = b->next)
		for (m.name = b->octets; m.name < b->octets + b->used && !m.err; m.name += m.len) {
			for (p = m.name; *p; p += *p + 1)
				;
			m.len = (uint16_t)(p + 1 - m.name);
			steps = rules_regex_heavy(c->rules) < HEAVY_MAX ? REGEX_STEPS_MAX : 0;
			if (steps)
				rules_each_regex(c->rules, m.name, m.len, &steps, add_member, &m);
			if (!steps && !m.err)
				ask_about_name(&m);
			if (!m.err)
				drop_repeats(&m);
		}
	return m.err;
}

/* Once; another try at writing files begins behind it. */
static int bring_together(struct compile *c)
{
	int err;

	if (c->rules)
		return 0;
	err = rules_builder_each_bad_name(c->builder, take_back, c);
	if (!err)
		err = rules_builder_make(c->builder, &c->rules);
	if (!err)
		err = ask_about_names(c);
	if (!err && rules_have_regex(c->rules))
		err = match_exact_names(c);
	free_exact(c);
	return err;
}

static uint64_t sum_rules(const uint8_t *p, size_t size)
{
	uint64_t sum = sum_bytes(0, p, size);

	return sum ? sum : 1;
}

static void note_asked(struct compiled *c)
{
	c->asked = filter_asked(c->filter);
	c->untold = filter_untold(c->filter);
}

static int finish_files(struct compile *c, const char *path, const char *rules_path, const uint8_t *saved, size_t size,
			struct compiled *ret, struct err_at *reterr)
{
	uint64_t sum = sum_rules(saved, size), unused;
	int err;

	err_where(reterr, rules_path, 0, NULL);
	/* first: until the filter is there too, the two are not taken */
	err = filter_replace(rules_path, saved, size, reterr);
	if (!err)
		err = filter_write(c->names, sum, path, &unused, reterr);
	return err ? err : filter_open(path, c->names->secret, &ret->filter, reterr);
}

int compile_finish(struct compile *c, const char *path, const char *rules_path, struct compiled *ret,
		   struct err_at *reterr)
{
	struct compiled made = { 0 };
	uint8_t *saved = NULL;
	uint64_t unused;
	size_t size = 0;
	int err = bring_together(c);

	if (!err)
		err = rules_save(c->rules, &saved, &size);
	if (err)
		err_why(reterr, err, "the rules cannot be compiled: %s", strerror(-err));
	else if (path)
		err = finish_files(c, path, rules_path, saved, size, &made, reterr);
	else
		err = filter_make(c->names, sum_rules(saved, size), &made.filter, &unused, reterr);
	free(saved);
	if (err)
		return err;
	note_asked(&made);
	made.rules = c->rules;
	c->rules = NULL;
	*ret = made;
	return 0;
}

int compile_open(const char *path, const char *rules_path, const struct mr_secret *secret, struct compiled *ret,
		 struct err_at *reterr)
{
	struct compiled c = { 0 };
	char *saved = NULL;
	size_t size;
	int err = filter_open(path, secret, &c.filter, reterr);

	if (err)
		return err;
	err_where(reterr, rules_path, 0, NULL);
	err = file_read(rules_path, RULES_FILE_MAX, &saved, &size);
	if (err)
		err_why(reterr, err, "the special rules cannot be read: %s", strerror(-err));
	else if (sum_rules((uint8_t *)saved, size) != filter_rules(c.filter))
		err = err_why(reterr, -ESTALE, "the special rules are not those of %s", path);
	else if ((err = rules_load((uint8_t *)saved, size, &c.rules)))
		err_why(reterr, err, "the special rules cannot be used: %s", strerror(-err));
	free(saved);
	if (err) {
		compiled_done(&c);
		return err;
	}
	note_asked(&c);
	*ret = c;
	return 0;
}

void compiled_done(struct compiled *c)
{
	if (!c)
		return;
	filter_free(c->filter);
	rules_free(c->rules);
	*c = (struct compiled){ 0 };
}
