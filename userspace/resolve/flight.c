/* SPDX-License-Identifier: BSD-2-Clause */
/* flight.c - the table of questions under way. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/random.h"
#include "resolve/flight.h"

#define SHARDS  16
#define BUCKETS 256			/* chains a shard */

struct flight {
	struct flight *next;
	struct dns_key key;
	struct query *waiters;
};

struct shard {
	pthread_mutex_t lock;		/* guards all below, and next_waiter and answer of the queries lent to it */
	unsigned count;
	struct flight *bucket[BUCKETS];
};

struct flights {
	struct hash_key hash;
	unsigned shard_max;
	struct shard shard[SHARDS];
};

struct flights *flights_new(unsigned max)
{
	struct flights *t = calloc(1, sizeof(*t));
	unsigned i;

	if (!t)
		return NULL;
	random_fill(&t->hash, sizeof(t->hash));
	t->shard_max = max / SHARDS ? max / SHARDS : 1;
	for (i = 0; i < SHARDS; i++)
		pthread_mutex_init(&t->shard[i].lock, NULL);
	return t;
}

void flights_free(struct flights *t)
{
	unsigned i;

	if (!t)
		return;
	for (i = 0; i < SHARDS; i++)
		pthread_mutex_destroy(&t->shard[i].lock);
	free(t);
}

static struct flight **find(struct flights *t, const struct dns_key *key, struct shard **ret_shard)
{
	uint64_t h = hash_mix(hash_octets(&t->hash, key->name, key->name_len), (uint64_t)key->qtype << 8 | key->bits);
	struct shard *s = &t->shard[h % SHARDS];
	struct flight **at = &s->bucket[h / SHARDS % BUCKETS];

	*ret_shard = s;
	pthread_mutex_lock(&s->lock);
	while (*at && !dns_key_same(&(*at)->key, key))
		at = &(*at)->next;
	return at;
}

enum flight_seat flight_join(struct flights *t, struct query *q, bool wait)
{
	enum flight_seat seat = FLIGHT_ALONE;
	struct flight *f, **at;
	struct shard *s;

	at = find(t, &q->key, &s);
	if (*at) {
		if (wait) {
			q->next_waiter = (*at)->waiters;
			(*at)->waiters = q;
		}
		seat = FLIGHT_WAITS;
	} else if (s->count < t->shard_max && (f = calloc(1, sizeof(*f)))) {
		f->key = q->key;
		*at = f;
		s->count++;
		q->flight = f;
		seat = FLIGHT_LEADS;
	}
	pthread_mutex_unlock(&s->lock);
	return seat;
}

bool flight_leave(struct flights *t, struct query *q)
{
	struct query **at = NULL;
	struct flight **f;
	struct shard *s;
	bool found;

	f = find(t, &q->key, &s);
	if (*f)
		for (at = &(*f)->waiters; *at && *at != q;)
			at = &(*at)->next_waiter;
	found = at && *at;
	if (found)
		*at = q->next_waiter;
	pthread_mutex_unlock(&s->lock);
	return found;
}

struct query *flight_land(struct flights *t, struct query *q, struct dns_answer *a)
{
	struct query *waiters, *w;
	struct flight **at, *f = q->flight;
	struct shard *s;

	if (!f)
		return NULL;
	at = find(t, &f->key, &s);
	*at = f->next;
	s->count--;
	waiters = f->waiters;
	for (w = waiters; w; w = w->next_waiter)
		w->answer = a ? dns_answer_ref(a) : NULL;
	pthread_mutex_unlock(&s->lock);
	free(f);
	q->flight = NULL;
	return waiters;
}
