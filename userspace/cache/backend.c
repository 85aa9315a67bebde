/* SPDX-License-Identifier: BSD-2-Clause */
/* backend.c - answers as octets, for who keeps them outside the process. */
#include <errno.h>
#include <string.h>
#include "cache/backend.h"

#define MS_NS     1000000
#define FUTURE_MS 1000			/* clocks that are read one after the other, and slewed, differ by less */

_Static_assert(sizeof(struct cache_packed) == 40, "without holes");

size_t cache_packed_size(const struct dns_answer *a)
{
	return sizeof(struct cache_packed) + a->key.name_len + a->body_len;
}

void cache_pack(const struct dns_answer *a, const struct cache_moment *now, uint8_t *to)
{
	struct cache_packed p = {
		.size = (uint32_t)cache_packed_size(a),
		.ttl = a->ttl,
		.born_ms = now->wall_ms - (int64_t)(now->coarse_ns - a->born_ns) / MS_NS,
		.name_len = a->key.name_len,
		.qtype = a->key.qtype,
		.rcode = a->rcode,
		.ede = a->ede,
		.answers = a->answers,
		.authorities = a->authorities,
		.body_len = a->body_len,
		.asked = atomic_load_explicit(&a->asked, memory_order_relaxed),
		.bits = a->key.bits,
		.flags = (uint8_t)((a->aa ? CACHE_PACKED_AA : 0) | (a->ad ? CACHE_PACKED_AD : 0) |
				   (a->cut ? CACHE_PACKED_CUT : 0)),
	};

	to = mempcpy(to, &p, sizeof(p));
	to = mempcpy(to, a->key.name, a->key.name_len);
	if (a->body_len)
		memcpy(to, a->body, a->body_len);
}

int cache_packed_read(const uint8_t *at, size_t left, struct cache_packed *ret)
{
	struct cache_packed p;

	if (left < sizeof(p))
		return -EBADMSG;
	memcpy(&p, at, sizeof(p));
	if (p.size > left || p.size != sizeof(p) + p.name_len + p.body_len || !p.name_len ||
	    p.name_len >= sizeof(((struct dns_key *)0)->name) || at[p.size - p.body_len - 1])
		return -EBADMSG;
	*ret = p;
	return 0;
}

void cache_packed_key(const uint8_t *at, const struct cache_packed *p, struct dns_key *ret)
{
	*ret = (struct dns_key){ .name_len = p->name_len, .qtype = p->flags & CACHE_PACKED_CUT ? 0 : p->qtype,
				 .bits = p->bits };
	memcpy(ret->name, at + sizeof(*p), p->name_len);
}

int cache_unpack(const uint8_t *at, const struct cache_packed *p, const struct cache_moment *now,
		 struct dns_answer **ret)
{
	int64_t lived_ms = now->wall_ms - p->born_ms;
	struct dns_answer *a;
	struct dns_key key;
	int err;

	if (lived_ms < -FUTURE_MS)
		return -ESTALE;
	if (lived_ms < 0)
		lived_ms = 0;
	cache_packed_key(at, p, &key);
	key.qtype = p->qtype;
	err = dns_answer_from_body(&key, p->rcode, at + sizeof(*p) + p->name_len, p->body_len, p->answers, p->authorities,
				   now->coarse_ns - (uint64_t)lived_ms * MS_NS, &a);
	if (err)
		return err;
	a->ttl = p->ttl;
	a->ede = p->ede;
	a->aa = p->flags & CACHE_PACKED_AA;
	a->ad = p->flags & CACHE_PACKED_AD;
	a->cut = p->flags & CACHE_PACKED_CUT;
	atomic_store_explicit(&a->asked, p->asked ? p->asked : 1, memory_order_relaxed);
	*ret = a;
	return 0;
}
