/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regex_set.c - many patterns at once, most of which are never tried.
 *
 * A pattern is looked at when a name holds a gram that it needs; a bit for
 * each gram says that none does, in a pass over the name.  Those for which no
 * gram is known are tried in groups, as the branches of one pattern.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "policy/count.h"
#include "policy/regex_set.h"

#define GROUP_MAX 32

/* "Whoever has this gram may match this member." */
struct needed {
	uint32_t gram;
	uint32_t member;
};

/* Members for which no gram is known: from always[first], count of them. */
struct group {
	unsigned first, count;
	struct regex *all;		/* NULL: they are tried one by one */
};

struct regex_set {
	struct {
		struct regex *regex;
		unsigned first_gram;	/* of gram[] */
		uint8_t grams;
		bool invert;
		_Atomic uint64_t heavy;	/* steps */
	} *member;
	unsigned count;
	struct needed *need;		/* by gram */
	uint32_t *gram;			/* of each member side by side; as many as needs */
	unsigned needs;
	unsigned *always;
	unsigned always_count;
	struct group *group;
	unsigned groups;
	uint64_t *bits;			/* of grams that are needed */
	_Atomic uint64_t limited, spent, heavy;
};

static int by_gram(const void *a, const void *b)
{
	const struct needed *x = a, *y = b;

	if (x->gram != y->gram)
		return x->gram < y->gram ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

static bool is_simple(const struct regex_member *m)
{
	return !m->invert && regex_may_be_part(m->pattern, m->len);
}

/* "(?:one)|(?:other)"; it stays without when that does not compile. */
static void join(struct group *g, const struct regex_member *members, const unsigned *number)
{
	char *text = malloc(REGEX_PATTERN_MAX), *at = text;
	unsigned i;

	for (i = 0; text && i < g->count; i++) {
		if (at + members[number[i]].len + 5 > text + REGEX_PATTERN_MAX) {
			free(text);
			return;
		}
		at = mempcpy(at, i ? "|(?:" : "(?:", i ? 4 : 3);
		at = mempcpy(at, members[number[i]].pattern, members[number[i]].len);
		*at++ = ')';
	}
	if (text && regex_new(text, (size_t)(at - text), &g->all) == 0) {
		regex_branches(g->all, g->count);
		regex_quicken(g->all);
	}
	free(text);
}

static bool make_groups(struct regex_set *s, const struct regex_member *members)
{
	unsigned i, size;
	struct group *g;

	s->group = calloc(s->always_count + 1U, sizeof(*s->group));
	if (!s->group)
		return false;
	for (i = 0; i < s->always_count; i += g->count) {
		g = &s->group[s->groups++];
		g->first = i;
		g->count = 1;
		if (!is_simple(&members[s->always[i]]))
			continue;
		size = (unsigned)members[s->always[i]].len + 5;
		for (; i + g->count < s->always_count && g->count < GROUP_MAX; g->count++) {
			size += (unsigned)members[s->always[i + g->count]].len + 5;
			if (!is_simple(&members[s->always[i + g->count]]) || size > REGEX_PATTERN_MAX)
				break;
		}
		if (g->count > 1)
			join(g, members, &s->always[i]);
	}
	return true;
}

static bool grow_needs(struct regex_set *s, unsigned to, unsigned *room)
{
	struct needed *need = realloc(s->need, to * sizeof(*need));
	uint32_t *gram = realloc(s->gram, to * sizeof(*gram));

	s->need = need ? need : s->need;
	s->gram = gram ? gram : s->gram;
	*room = need && gram ? to : *room;
	return need && gram;
}

static bool take_member(struct regex_set *s, const struct regex_member *m, unsigned number, unsigned *room)
{
	uint32_t grams[REGEX_BRANCHES_MAX];
	unsigned count = m->invert ? 0 : regex_grams(m->pattern, m->len, grams), i;

	s->member[number].regex = m->regex;
	s->member[number].invert = m->invert;
	s->member[number].first_gram = s->needs;
	s->member[number].grams = (uint8_t)count;
	regex_quicken(m->regex);
	if (!count) {
		s->always[s->always_count++] = number;
		return true;
	}
	if (s->needs + count > *room && !grow_needs(s, (*room + count) * 2, room))
		return false;
	for (i = 0; i < count; i++) {
		s->gram[s->needs] = grams[i];
		s->need[s->needs++] = (struct needed){ grams[i], number };
		s->bits[grams[i] / 64] |= 1ULL << grams[i] % 64;
	}
	return true;
}

struct regex_set *regex_set_new(const struct regex_member *members, unsigned count)
{
	struct regex_set *s = calloc(1, sizeof(*s));
	unsigned i, room = 0;
	bool good;

	if (!s)
		return NULL;
	s->count = count;
	s->member = calloc(count + 1U, sizeof(*s->member));
	s->always = calloc(count + 1U, sizeof(*s->always));
	s->bits = calloc(REGEX_GRAMS / 64, sizeof(*s->bits));
	good = s->member && s->always && s->bits;
	for (i = 0; i < count && good; i++)
		good = take_member(s, &members[i], i, &room);
	good = good && make_groups(s, members);
	if (!good) {
		regex_set_free(s);
		return NULL;
	}
	if (s->needs)
		qsort(s->need, s->needs, sizeof(*s->need), by_gram);
	return s;
}

void regex_set_free(struct regex_set *s)
{
	unsigned i;

	if (!s)
		return;
	for (i = 0; i < s->groups; i++)
		regex_free(s->group[i].all);
	free(s->group);
	free(s->member);
	free(s->need);
	free(s->gram);
	free(s->always);
	free(s->bits);
	free(s);
}

/* ---- matching ---- */

struct matching {
	struct regex_set *s;
	const char *text;
	size_t len;
	bool (*each)(unsigned number, void *arg);
	void *arg;
	uint32_t *left;
	uint32_t hit[REGEX_TEXT_MAX];	/* grams that were looked at */
	unsigned hits;
};

static void add(_Atomic uint64_t *to, uint64_t n)
{
	atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

/* Match; @heavy of a member, NULL: of a group. */
static enum regex_outcome match(struct matching *m, const struct regex *r, _Atomic uint64_t *heavy)
{
	uint32_t steps;
	enum regex_outcome o = regex_try(r, m->text, m->len, m->left, &steps);

	if (steps)
		add(&m->s->heavy, steps);
	if (steps && heavy)
		add(heavy, steps);
	if (o == REGEX_SPENT) {
		add(&m->s->spent, 1);
		policy_count(COUNT_filter_regex_spent);
	}
	return o;
}

/* Try a member; false ends all. */
static bool try_member(struct matching *m, unsigned number)
{
	enum regex_outcome o = match(m, m->s->member[number].regex, &m->s->member[number].heavy);

	if (o == REGEX_SPENT)
		return false;
	if (o == REGEX_LIMIT) {
		add(&m->s->limited, 1);
		policy_count(COUNT_filter_regex_limited);
		return true;
	}
	return (o == REGEX_YES) == m->s->member[number].invert || m->each(number, m->arg);
}

/* The first of the needs for a gram, or the end. */
static unsigned first_need(const struct regex_set *s, uint32_t gram)
{
	unsigned low = 0, high = s->needs, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (s->need[middle].gram < gram)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* True when the member needs one of the grams that were looked at before: then it was tried. */
static bool was_tried(const struct matching *m, uint32_t member)
{
	const uint32_t *gram = m->s->gram + m->s->member[member].first_gram;
	unsigned i, k, grams = m->s->member[member].grams;

	for (i = 0; grams > 1 && i < m->hits; i++)
		for (k = 0; k < grams; k++)
			if (gram[k] == m->hit[i])
				return true;
	return false;
}

static bool try_gram(struct matching *m, uint32_t gram)
{
	const struct regex_set *s = m->s;
	unsigned i, n;

	for (i = 0; i < m->hits; i++)
		if (m->hit[i] == gram)
			return true;
	for (n = first_need(s, gram); n < s->needs && s->need[n].gram == gram; n++) {
		/* a member may stand twice under a gram, for two branches */
		if (n && s->need[n - 1].gram == gram && s->need[n - 1].member == s->need[n].member)
			continue;
		if (!was_tried(m, s->need[n].member) && !try_member(m, s->need[n].member))
			return false;
	}
	m->hit[m->hits++] = gram;
	return true;
}

static bool try_grams(struct matching *m)
{
	const uint64_t *bits = m->s->bits;
	uint32_t gram = REGEX_LETTER_START;
	size_t i;

	for (i = 0; i <= m->len; i++) {
		gram = (gram << 6 | (i < m->len ? regex_letter(m->text[i]) : (unsigned)REGEX_LETTER_END)) & (REGEX_GRAMS - 1);
		if (i && bits[gram / 64] >> gram % 64 & 1 && !try_gram(m, gram))
			return false;
	}
	return true;
}

static bool try_group(struct matching *m, const struct group *g)
{
	enum regex_outcome o = g->all ? match(m, g->all, NULL) : REGEX_LIMIT;
	unsigned i;

	if (o == REGEX_NO || o == REGEX_SPENT)
		return o == REGEX_NO;
	for (i = 0; i < g->count; i++)
		if (!try_member(m, m->s->always[g->first + i]))
			return false;
	return true;
}

void regex_set_each(const struct regex_set *s, const char *text, size_t len, uint32_t *left,
		    bool (*each)(unsigned number, void *arg), void *arg)
{
	struct matching m;
	unsigned i;

	if (!s->count || len >= REGEX_TEXT_MAX || !*left)
		return;
	m.s = (struct regex_set *)s;	/* for its counters */
	m.text = text;
	m.len = len;
	m.each = each;
	m.arg = arg;
	m.left = left;
	m.hits = 0;
	if (s->needs && !try_grams(&m))
		return;
	for (i = 0; i < s->groups; i++)
		if (!try_group(&m, &s->group[i]))
			return;
}

uint64_t regex_set_limited(const struct regex_set *s)
{
	return atomic_load_explicit(&s->limited, memory_order_relaxed);
}

uint64_t regex_set_spent(const struct regex_set *s)
{
	return atomic_load_explicit(&s->spent, memory_order_relaxed);
}

uint64_t regex_set_heavy(const struct regex_set *s)
{
	return atomic_load_explicit(&s->heavy, memory_order_relaxed);
}

uint64_t regex_set_heavy_of(const struct regex_set *s, unsigned number)
{
	return atomic_load_explicit(&s->member[number].heavy, memory_order_relaxed);
}
