/* SPDX-License-Identifier: BSD-2-Clause */
/* lmdb_seen.c - a set of hashes that only grows. */
#include <errno.h>
#include <stdlib.h>
#include "base/random.h"
#include "store/lmdb_seen.h"

#define SIZE_FIRST 1024

void lmdb_seen_init(struct lmdb_seen *s)
{
	*s = (struct lmdb_seen){ 0 };
	random_fill(&s->key, sizeof(s->key));
}

void lmdb_seen_done(struct lmdb_seen *s)
{
	free(s->at);
	*s = (struct lmdb_seen){ 0 };
}

/* Where a hash is, or would be. */
static uint64_t *place(uint64_t *at, size_t size, uint64_t hash)
{
	size_t i = hash & (size - 1);

	while (at[i] && at[i] != hash)
		i = (i + 1) & (size - 1);
	return &at[i];
}

static int grow(struct lmdb_seen *s)
{
	size_t size = s->size ? s->size * 2 : SIZE_FIRST, i;
	uint64_t *at = calloc(size, sizeof(*at));

	if (!at)
		return -ENOMEM;
	for (i = 0; i < s->size; i++)
		if (s->at[i])
			*place(at, size, s->at[i]) = s->at[i];
	free(s->at);
	s->at = at;
	s->size = size;
	return 0;
}

int lmdb_seen_add(struct lmdb_seen *s, const struct dns_key *key)
{
	uint64_t hash = hash_mix(hash_octets(&s->key, key->name, key->name_len), (uint64_t)key->qtype << 8 | key->bits);
	uint64_t *at;

	if (s->count >= s->size / 2 && grow(s))
		return -ENOMEM;
	hash += !hash;
	at = place(s->at, s->size, hash);
	if (*at)
		return 0;
	*at = hash;
	s->count++;
	return 1;
}
