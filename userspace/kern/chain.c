/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.c - which sets of the filter the names touch that an answer leads to.
 *
 * The program judges the question name alone; CNAMEs' and services' targets it
 * judges by the set numbers that are kept with the answer, so they are found
 * here, with the filter that is in force, under the lock that the flip takes.
 */
#include <string.h>
#include "dns/leads.h"
#include "dns/name.h"
#include "kern/answers.h"

struct sets {
	uint16_t *set;
	unsigned count;
};

/* Add a set once; the ninth different one turns the last place into "ask". */
static void add_set(struct sets *s, uint64_t entry)
{
	uint16_t set = mr_entry_set(entry);
	unsigned i;

	if (!set)
		return;
	for (i = 0; i < s->count; i++)
		if (s->set[i] == set)
			return;
	if (s->count == MR_CHAIN_MAX)
		s->set[MR_CHAIN_MAX - 1] = MR_SET_ASK;
	else
		s->set[s->count++] = set;
}

/* Drop leading labels until the kernel's depth is kept; says whether it did. */
static bool cut_deep(const uint8_t **name, unsigned *len)
{
	unsigned labels = dns_name_labels(*name);
	bool deep = labels > MR_LABELS_MAX;

	for (; labels > MR_LABELS_MAX; labels--) {
		*len -= **name + 1;
		*name += **name + 1;
	}
	return deep;
}

/* Add the sets of all entries that match a lower-case name: its own, and the subtree entries of its parents. */
static void add_name(const struct answers *a, const struct mr_unit *u, const uint8_t *name, unsigned len,
		     struct sets *s)
{
	struct mr_name n = { 0 };
	bool deep = cut_deep(&name, &len);
	struct mr_found found;
	uint32_t depths = MR_READ(u->depths);
	unsigned i;

	memcpy(n.text, name, len);
	n.len = len;
	if (mr_name_hash(&n, a->m.secret))
		return;
	for (i = 0; i <= n.labels; i++) {
		if (!(depths >> i & 1))
			continue;
		found = mr_filter_find(u, a->m.filter, a->m.bloom, n.hash[i]);
		add_set(s, found.subtree);
		if (i == n.labels && !deep)
			add_set(s, found.exact);
	}
}

struct looking {
	const struct answers *a;
	const struct mr_unit *unit;
	struct sets sets;
};

/* Of addresses the filter's table knows nothing: who puts the answer says whether to ask for them. */
static bool note_lead(const struct dns_lead *lead, void *arg)
{
	struct looking *l = arg;

	if (lead->name)
		add_name(l->a, l->unit, lead->name, lead->name_len, &l->sets);
	return false;
}

unsigned answers_chain(const struct answers *a, const struct dns_answer *from, bool ask, uint16_t *sets)
{
	struct looking l = { a, &a->m.conf->unit[a->m.conf->active & 1], { sets, 0 } };

	/* A body that does not parse to its end is nobody's answer: let user space judge it. */
	if (dns_answer_leads(from, note_lead, &l) < 0 || ask)
		add_set(&l.sets, (uint64_t)MR_SET_ASK << MR_ENTRY_SET_SHIFT);
	return l.sets.count;
}
