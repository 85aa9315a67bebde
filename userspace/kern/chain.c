/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.c - which sets of the filter the CNAME chain of an answer touches.
 *
 * The program judges the question name alone; what stands behind a CNAME it
 * judges by the set numbers that are kept with the answer, so they are found
 * here, with the filter that is in force, under the lock that the flip takes.
 */
#include <string.h>
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

/* Add the sets of all entries that match a name: its own, and the subtree entries of its parents. */
static void add_name(const struct answers *a, const struct mr_unit *u, const uint8_t *name, unsigned len,
		     struct sets *s)
{
	struct mr_name n = { 0 };
	bool deep = cut_deep(&name, &len);
	struct mr_found found;
	unsigned i;

	dns_name_lower(n.text, name, len);
	n.len = len;
	if (mr_name_hash(&n, a->m.secret))
		return;
	for (i = 0; i <= n.labels; i++) {
		if (!(u->depths >> i & 1))
			continue;
		found = mr_filter_find(u, a->m.filter, a->m.bloom, n.hash[i]);
		add_set(s, found.subtree);
		if (i == n.labels && !deep)
			add_set(s, found.exact);
	}
}

/* The message that the body's compression pointers are offsets into. */
static unsigned make_message(const struct dns_answer *from, uint8_t *msg)
{
	unsigned body = DNS_HEADER + from->key.name_len + 4;

	memset(msg, 0, DNS_HEADER);
	memcpy(msg + DNS_HEADER, from->key.name, from->key.name_len);
	memset(msg + DNS_HEADER + from->key.name_len, 0, 4);
	memcpy(msg + body, from->body, from->body_len);
	return body;
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

unsigned answers_chain(const struct answers *a, const struct dns_answer *from, bool ask, uint16_t *sets)
{
	const struct mr_unit *u = &a->m.conf->unit[a->m.conf->active & 1];
	uint8_t msg[DNS_HEADER + DNS_NAME_MAX + 4 + MR_MESSAGE_MAX], name[DNS_NAME_MAX + 1];
	unsigned i, type, rdlen, size = DNS_HEADER + from->key.name_len + 4 + from->body_len;
	struct sets s = { sets, 0 };
	size_t at = make_message(from, msg), next;
	int len;

	for (i = 0; i < from->answers; i++) {
		if (dns_name_expand(msg, size, at, name, &next) < 0 || next + 10 > size)
			break;
		type = get16(msg + next);
		rdlen = get16(msg + next + 8);
		at = next + 10;
		if (at + rdlen > size)
			break;
		if (type == DNS_CNAME) {
			len = dns_name_expand(msg, at + rdlen, at, name, &next);
			if (len < 0)
				break;
			add_name(a, u, name, len, &s);
		}
		at += rdlen;
	}
	/* A body that does not parse to its end is nobody's answer: let user space judge it. */
	if (ask || i < from->answers)
		add_set(&s, (uint64_t)MR_SET_ASK << MR_ENTRY_SET_SHIFT);
	return s.count;
}
