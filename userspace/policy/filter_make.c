/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_make.c - makes the image of a compiled filter from a builder's chains.
 *
 * A chain gives a name up to two entries: the very name, and the name with all
 * below.  What is said of the names below alone stands with the latter, marked;
 * where the same list says the same of the name itself, the two become one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/file.h"
#include "policy/filter_build.h"

#define ACTIONS     5
#define CHAIN_MAX   (FILTER_LISTS_MAX * ACTIONS)	/* of each reach */
#define BUCKETS_MIN 16
#define BUCKETS_MAX (64U << 20)
#define HUGE_FROM   (8U << 20)

struct filter_limits filter_limits = {
	.sets = MR_SET_ASK, .folded = FILTER_FOLDED_MAX, .folded_members = FILTER_FOLDED_MEMBERS_MAX, .buckets_min = 0,
};

/* What a chain says, by reach, and an item that may stand for each of the two entries. */
struct chain {
	struct filter_member exact[CHAIN_MAX], subtree[2 * CHAIN_MAX], below[CHAIN_MAX];
	uint32_t exacts, subtrees, belows;
	struct filter_item *of_exact, *of_subtree;
};

struct making {
	const struct filter_builder *b;
	struct chain *chain;
	struct filter_sets sets;
	struct filter_folded *row;	/* of names whose sets are not the kernel's */
	uint32_t rows, rows_room;
	uint64_t entries;
	uint64_t untold;
	uint64_t rules;
	uint32_t depths;
};

static uint32_t power_of_two(uint64_t at_least)
{
	uint32_t n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

/* ---- entries ---- */

static void take_item(struct chain *c, struct filter_item *it)
{
	struct filter_member m = { it->list, it->action };

	it->entry = 0;
	if (it->gone)
		return;
	if (it->reach == RULE_EXACT) {
		c->exact[c->exacts++] = m;
		c->of_exact = it;
		return;
	}
	if (it->reach == RULE_SUBTREE)
		c->subtree[c->subtrees++] = m;
	else
		c->below[c->belows++] = m;
	c->of_subtree = it;
}

static bool has_member(const struct filter_member *m, uint32_t count, struct filter_member like, uint32_t *ret)
{
	for (*ret = 0; *ret < count; ++*ret)
		if (m[*ret].list == like.list && m[*ret].action == like.action)
			return true;
	return false;
}

/* Bring what is said of names below into the other two. */
static void merge_below(struct chain *c)
{
	struct filter_member m;
	uint32_t i, at, unused;

	for (i = 0; i < c->belows; i++) {
		m = c->below[i];
		if (has_member(c->subtree, c->subtrees, m, &unused))
			continue;
		if (has_member(c->exact, c->exacts, m, &at))
			c->exact[at] = c->exact[--c->exacts];
		else if (m.action != FILTER_ASK)
			m.action |= FILTER_BELOW;
		c->subtree[c->subtrees++] = m;
	}
}

/* Note which set the ask set stands for. */
static int fold(struct making *m, const struct filter_item *it, uint32_t set)
{
	uint32_t room = m->rows_room ? m->rows_room * 2 : 4096;
	struct filter_folded *more;

	if (m->rows == filter_limits.folded) {
		m->untold++;
		return 0;
	}
	if (m->rows == m->rows_room) {
		more = realloc(m->row, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->row = more;
		m->rows_room = room;
	}
	m->row[m->rows++] = (struct filter_folded){ it->h0, it->h1, set, 0 };
	m->sets.full = m->rows == filter_limits.folded;
	return 0;
}

static int make_entry(struct making *m, struct filter_member *members, uint32_t count, struct filter_item *it)
{
	int set, err = 0;

	if (!count)
		return 0;
	set = filter_sets_intern(&m->sets, members, count, it->reach != RULE_EXACT);
	if (set == -ENOSPC)
		m->untold++;
	else if (set < 0)
		return set;
	else if ((uint32_t)set >= m->sets.bound)
		err = fold(m, it, (uint32_t)set);
	if (err)
		return err;
	it->entry = 1;
	it->set = set < 0 || (uint32_t)set >= m->sets.bound ? MR_SET_ASK : (unsigned)set;
	m->entries++;
	m->depths |= 1U << it->depth;
	return 0;
}

static int make_name(struct making *m, const struct filter_part *p, struct filter_item *it)
{
	struct chain *c = m->chain;
	int err;

	c->exacts = c->subtrees = c->belows = 0;
	for (;; it = filter_item_at(p, it->next - 1)) {
		take_item(c, it);
		if (!it->next)
			break;
	}
	if (c->belows)
		merge_below(c);
	err = make_entry(m, c->exact, c->exacts, c->of_exact);
	return err ? err : make_entry(m, c->subtree, c->subtrees, c->of_subtree);
}

static bool is_local(const struct making *m, const struct filter_part *p, const struct filter_item *it)
{
	for (;; it = filter_item_at(p, it->next - 1)) {
		if (it->list == m->b->local && it->action == FILTER_ASK && !it->gone)
			return true;
		if (!it->next)
			return false;
	}
}

static int make_names(struct making *m, bool local)
{
	const struct filter_part *p;
	struct filter_item *it;
	uint32_t n;
	int err = 0;

	for (p = m->b->part; p < m->b->part + FILTER_PARTS; p++)
		for (n = 0; n < p->count && !err; n++) {
			it = filter_item_at(p, n);
			if (it->head && (!m->b->has_local || is_local(m, p, it) == local))
				err = make_name(m, p, it);
		}
	return err;
}

/*
 * Give each name its entries, and each entry its set; local names first, so that theirs are the kernel's: what it
 * is told of them is stronger than what it is to ask about.
 */
static int make_entries(struct making *m)
{
	int err = m->b->has_local ? make_names(m, true) : 0;

	return err ? err : make_names(m, false);
}

/* ---- image ---- */

static int each_entry(const void *from, filter_place_take take, void *to)
{
	const struct filter_builder *b = from;
	const struct filter_part *p;
	const struct filter_item *it;
	uint32_t n;
	int err = 0;

	for (p = b->part; p < b->part + FILTER_PARTS; p++)
		for (n = 0; n < p->count && !err; n++) {
			it = filter_item_at(p, n);
			if (it->entry)
				err = take(to, &(struct filter_place_item){ it->h0, it->h1, it->set,
									    it->reach != RULE_EXACT });
		}
	return err;
}

/* Sets of no names behind the others: their numbers are for names that are changed in place (filter_edit.h). */
static uint32_t count_spare(const struct filter_sets *s)
{
	uint32_t left = s->bound > s->count ? s->bound - s->count : 0;

	return left < FILTER_SPARE_SETS ? left : FILTER_SPARE_SETS;
}

static int by_hash(const void *a, const void *b)
{
	const struct filter_folded *x = a, *y = b;

	if (x->h0 != y->h0)
		return x->h0 < y->h0 ? -1 : 1;
	if (x->h1 != y->h1)
		return x->h1 < y->h1 ? -1 : 1;
	return x->set < y->set ? -1 : 1;
}

static void write_set_at(const struct filter_sets *s, uint32_t spare, uint32_t *to)
{
	memcpy(to, s->at, (s->count + 1ULL) * sizeof(*to));
	for (to += s->count + 1; spare--; to++)
		*to = s->members_count;
}

/* What stands behind the tables of the kernel. */
static void copy_sets(const struct making *m, uint32_t spare, const struct filter_layout *l, uint8_t *image)
{
	write_set_at(&m->sets, spare, (uint32_t *)(image + l->set_at));
	if (m->sets.members_count)
		memcpy(image + l->members, m->sets.members, m->sets.members_count * sizeof(*m->sets.members));
	if (m->rows)
		memcpy(image + l->folded, m->row, m->rows * sizeof(*m->row));
}

/* One try with that many buckets; -ENOSPC when the names do not fit. */
static int make_image(struct making *m, uint32_t buckets, uint32_t words, struct filter *ret)
{
	uint32_t spare = count_spare(&m->sets), sets = m->sets.count + spare;
	struct filter_header *h, made = {
		.magic = FILTER_MAGIC, .version = FILTER_VERSION, .header_size = sizeof(made),
		.members = m->sets.members_count, .sets = sets, .folded = m->rows, .untold = m->untold,
		.rules = m->rules,
		.unit = { .bucket_mask = buckets - 1, .bloom_mask = words - 1,
			  .sets = sets < m->sets.bound ? sets : m->sets.bound, .depths = m->depths,
			  .entries = m->entries, .fingerprint = m->b->secret->fingerprint },
	};
	struct filter_layout l = filter_layout(&made);
	uint8_t *image;
	int err;

	made.size = l.size;
	image = mmap(NULL, l.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED)
		return -ENOMEM;
	if (l.size >= HUGE_FROM)
		madvise(image, l.size, MADV_HUGEPAGE);
	h = (struct filter_header *)image;
	*h = made;
	err = filter_place((struct mr_filter_bucket *)(image + l.buckets), (uint64_t *)(image + l.bloom), each_entry, m->b,
			   &h->unit);
	if (err) {
		munmap(image, l.size);
		return err;
	}
	copy_sets(m, spare, &l, image);
	h->sum = filter_sum(image, l.size);
	*ret = (struct filter){ image, l.size };
	return 0;
}

/* Indices are for adding; what is added later makes new ones. */
static void drop_indices(struct filter_builder *b)
{
	struct filter_part *p;

	for (p = b->part; p < b->part + FILTER_PARTS; p++) {
		free(p->index);
		p->index = NULL;
		p->index_mask = 0;
	}
}

/* The whole filter in memory. */
static int make(struct filter_builder *b, uint64_t rules, struct filter *ret, uint64_t *ret_asked,
		struct err_at *reterr)
{
	struct making m = { .b = b, .rules = rules };
	struct filter_repeats unused = { 0 };
	uint32_t buckets, words;
	int err = filter_sets_init(&m.sets, filter_limits.sets, filter_limits.folded_members);

	m.sets.full = !filter_limits.folded;
	m.chain = malloc(sizeof(*m.chain));
	if (!m.chain)
		err = -ENOMEM;
	if (!err)
		err = filter_builder_settle(b, &unused);
	drop_indices(b);
	if (!err)
		err = make_entries(&m);
	free(m.chain);
	if (err)
		goto out;
	if (m.rows)
		qsort(m.row, m.rows, sizeof(*m.row), by_hash);
	/* at most 11 of 16 ways in use; 8 bits of Bloom filter for a name */
	buckets = filter_limits.buckets_min ? filter_limits.buckets_min : power_of_two(m.entries / 11 * 2 + BUCKETS_MIN);
	words = power_of_two(m.entries / 8 + 1);
	while ((err = make_image(&m, buckets, words, ret)) == -ENOSPC && buckets <= BUCKETS_MAX)
		buckets *= 2;
	if (!err)
		*ret_asked = m.rows + m.untold;
out:
	filter_sets_done(&m.sets);
	free(m.row);
	if (err)
		err_why(reterr, err, "cannot compile %llu names: %s", (unsigned long long)b->count, strerror(-err));
	return err;
}

int filter_make(struct filter_builder *b, uint64_t rules, struct filter **ret, uint64_t *ret_asked,
		struct err_at *reterr)
{
	struct filter *f = calloc(1, sizeof(*f));
	int err = f ? make(b, rules, f, ret_asked, reterr) : err_why(reterr, -ENOMEM, "no memory");

	if (err) {
		free(f);
		return err;
	}
	*ret = f;
	return 0;
}

/* ---- writing ---- */

int filter_replace(const char *path, const void *p, size_t size, struct err_at *reterr)
{
	char temporary[4096];
	int fd, err;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return err_why(reterr, -ENAMETOOLONG, "the path is too long");
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_why(reterr, -errno, "cannot make %s: %s", temporary, strerror(errno));
	err = file_write(fd, p, size);
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (err) {
		unlink(temporary);
		return err_why(reterr, err, "cannot write %s: %s", temporary, strerror(-err));
	}
	if (rename(temporary, path)) {
		err = -errno;
		unlink(temporary);
		return err_why(reterr, err, "cannot rename %s: %s", temporary, strerror(-err));
	}
	err = file_sync_folder(path);
	return err ? err_why(reterr, err, "cannot sync the folder of %s: %s", path, strerror(-err)) : 0;
}

int filter_write(struct filter_builder *b, uint64_t rules, const char *path, uint64_t *ret_asked,
		 struct err_at *reterr)
{
	struct filter f = { 0 };
	uint64_t asked = 0;
	int err;

	err_where(reterr, path, 0, NULL);
	err = make(b, rules, &f, &asked, reterr);
	if (err)
		return err;
	err = filter_replace(path, f.image, f.size, reterr);
	if (!err)
		*ret_asked = asked;
	munmap(f.image, f.size);
	return err;
}
