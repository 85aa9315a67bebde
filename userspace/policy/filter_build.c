/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_build.c - collects names, then makes the image of a compiled filter.
 *
 * An item of 24 bytes says "this list says this about this name"; a table of
 * item numbers finds the first item of a name and kind, and the others hang
 * on it as a chain.  So a repeated line is seen at once, and a chain is a set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "policy/filter_file.h"

#define CHAIN_MAX   (FILTER_LISTS_MAX * 8)	/* lists times actions */
#define ITEMS_MAX   (64U << 20)
#define BUCKETS_MIN 16

struct item {
	uint64_t h0;
	uint64_t h1;
	uint32_t next;			/* item number + 1 */
	uint32_t list : 10;
	uint32_t action : 3;
	uint32_t subtree : 1;
	uint32_t head : 1;
	uint32_t depth : 5;
};
_Static_assert(sizeof(struct item) == 24, "an item has grown");
_Static_assert(FILTER_LISTS_MAX <= 1 << 10, "list numbers do not fit an item");

struct filter_builder {
	const struct mr_secret *secret;
	struct item *items;
	uint32_t count;
	uint32_t room;
	uint32_t heads;			/* distinct names and kinds */
	uint32_t *index;		/* item number + 1 of heads, by h1 */
	uint32_t index_mask;
	struct mr_name name;		/* scratch; zero behind the name that was in it */
};

struct filter_limits filter_limits = { .sets = MR_SET_ASK, .buckets_min = 0 };

struct filter_builder *filter_builder_new(const struct mr_secret *secret)
{
	struct filter_builder *b = calloc(1, sizeof(*b));

	if (b)
		b->secret = secret;
	return b;
}

void filter_builder_free(struct filter_builder *b)
{
	if (!b)
		return;
	free(b->items);
	free(b->index);
	free(b);
}

/* ---- collecting ---- */

static bool grow_items(struct filter_builder *b)
{
	uint32_t room = b->room ? b->room + b->room / 2 : 1024;
	struct item *more = room <= ITEMS_MAX ? realloc(b->items, room * sizeof(*more)) : NULL;

	if (!more)
		return false;
	b->items = more;
	b->room = room;
	return true;
}

static bool grow_index(struct filter_builder *b)
{
	uint32_t mask = b->index ? b->index_mask * 2 + 1 : 2047, n, i;
	uint32_t *index = calloc((size_t)mask + 1, sizeof(*index));

	if (!index)
		return false;
	for (n = 0; n < b->count; n++) {
		if (!b->items[n].head)
			continue;
		for (i = (uint32_t)(b->items[n].h1 >> 16) & mask; index[i];)
			i = (i + 1) & mask;
		index[i] = n + 1;
	}
	free(b->index);
	b->index = index;
	b->index_mask = mask;
	return true;
}

/* Hash a name into b->name; -ENAMETOOLONG, or -EINVAL when it is none. */
static int hash_name(struct filter_builder *b, const uint8_t *name, uint16_t len)
{
	uint16_t before = b->name.len;
	int err;

	if (!len || len > MR_NAME_MAX)
		return -EINVAL;
	memcpy(b->name.text, name, len);
	if (before > len)
		memset(b->name.text + len, 0, before - len);
	b->name.len = len;
	err = mr_name_hash(&b->name, b->secret);
	b->name.len = len;		/* a malformed name leaves another */
	if (err)
		return err == MR_NAME_DEEP ? -ENAMETOOLONG : -EINVAL;
	return 0;
}

/* Follow a chain; true when the list's word is there, else *last is the chain's end. */
static bool chain_has(const struct filter_builder *b, uint32_t n, const struct item *like, uint32_t *last)
{
	for (;; n = b->items[n].next - 1) {
		if (b->items[n].list == like->list && b->items[n].action == like->action)
			return true;
		if (!b->items[n].next)
			break;
	}
	*last = n;
	return false;
}

/* Put an item behind those of its name; 1, or 0 when it is there. */
static int insert(struct filter_builder *b, struct item it)
{
	uint32_t i = (uint32_t)(it.h1 >> 16) & b->index_mask, last;
	const struct item *head;

	for (; b->index[i]; i = (i + 1) & b->index_mask) {
		head = &b->items[b->index[i] - 1];
		if (head->h1 != it.h1 || head->h0 != it.h0 || head->subtree != it.subtree)
			continue;
		if (chain_has(b, b->index[i] - 1, &it, &last))
			return 0;
		b->items[last].next = b->count + 1;
		b->items[b->count++] = it;
		return 1;
	}
	it.head = 1;
	b->index[i] = b->count + 1;
	b->items[b->count++] = it;
	b->heads++;
	return 1;
}

int filter_builder_add(struct filter_builder *b, const uint8_t *name, uint16_t len, bool subtree, unsigned list,
		       enum filter_action action)
{
	struct item it = { .list = list, .action = action, .subtree = subtree };
	int err;

	if (list >= FILTER_LISTS_MAX)
		return -EINVAL;
	err = hash_name(b, name, len);
	if (err)
		return err;
	if (b->count == b->room && !grow_items(b))
		return -ENOMEM;
	if ((!b->index || b->heads >= b->index_mask / 4 * 3) && !grow_index(b))
		return -ENOMEM;
	it.depth = b->name.labels;
	it.h0 = b->name.hash[b->name.labels].h0;
	it.h1 = b->name.hash[b->name.labels].h1;
	return insert(b, it);
}

/* ---- making the image ---- */

struct making {
	const struct filter_builder *b;
	uint32_t *heads;		/* item numbers */
	uint16_t *set;			/* of each head */
	struct filter_sets sets;
	uint64_t asked;
	uint32_t depths;
};

static uint32_t power_of_two(uint64_t at_least)
{
	uint32_t n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

/* Give each name its set. */
static int make_sets(struct making *m)
{
	struct filter_member *chain = malloc(CHAIN_MAX * sizeof(*chain));
	const struct item *it;
	uint32_t n, count, heads = 0;
	int set = chain ? 0 : -ENOMEM;

	for (n = 0; n < m->b->count && set >= 0; n++) {
		it = &m->b->items[n];
		if (!it->head)
			continue;
		m->depths |= 1U << it->depth;
		m->heads[heads] = n;
		for (count = 0;; it = &m->b->items[it->next - 1]) {
			chain[count++] = (struct filter_member){ it->list, it->action };
			if (!it->next)
				break;
		}
		set = filter_sets_intern(&m->sets, chain, count);
		if (set < 0)
			break;
		m->set[heads++] = (uint16_t)set;
		m->asked += set == MR_SET_ASK;
	}
	free(chain);
	return set < 0 ? set : 0;
}

static struct filter_place_item get_head(const void *arg, uint32_t number)
{
	const struct making *m = arg;
	const struct item *it = &m->b->items[m->heads[number]];

	return (struct filter_place_item){ it->h0, it->h1, m->set[number], it->subtree };
}

static void fill_bloom(const struct making *m, uint64_t *bloom, uint32_t mask)
{
	const struct item *it;
	struct mr_hash h;
	uint32_t n;

	for (n = 0; n < m->b->heads; n++) {
		it = &m->b->items[m->heads[n]];
		h = (struct mr_hash){ it->h0, it->h1 };
		bloom[mr_bloom_word(h, mask)] |= mr_bloom_bits(h);
	}
}

/* One try with that many buckets; -ENOSPC when the names do not fit. */
static int make_image(struct making *m, uint32_t buckets, uint32_t words, struct filter *ret)
{
	struct filter_layout l = filter_layout(buckets, words, m->sets.count, m->sets.members_count);
	struct filter_header *h;
	uint8_t *image;
	int err;

	image = mmap(NULL, l.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED)
		return -ENOMEM;
	h = (struct filter_header *)image;
	*h = (struct filter_header){
		.magic = FILTER_MAGIC, .version = FILTER_VERSION, .header_size = sizeof(*h), .size = l.size,
		.members = m->sets.members_count,
		.unit = { .bucket_mask = buckets - 1, .bloom_mask = words - 1, .sets = m->sets.count, .depths = m->depths,
			  .entries = m->b->heads, .fingerprint = m->b->secret->fingerprint },
	};
	err = filter_place((struct mr_filter_bucket *)(image + l.buckets), buckets - 1, get_head, m, m->b->heads, &h->unit);
	if (err) {
		munmap(image, l.size);
		return err;
	}
	fill_bloom(m, (uint64_t *)(image + l.bloom), words - 1);
	memcpy(image + l.set_at, m->sets.at, (m->sets.count + 1ULL) * sizeof(*m->sets.at));
	if (m->sets.members_count)
		memcpy(image + l.members, m->sets.members, m->sets.members_count * sizeof(*m->sets.members));
	h->sum = filter_sum(image, l.size);
	*ret = (struct filter){ image, l.size };
	return 0;
}

/* The whole filter in memory. */
static int make(const struct filter_builder *b, struct filter *ret, uint64_t *ret_asked)
{
	struct making m = { .b = b };
	uint32_t buckets, words;
	int err;

	m.heads = malloc((b->heads + 1ULL) * sizeof(*m.heads));
	m.set = malloc((b->heads + 1ULL) * sizeof(*m.set));
	err = filter_sets_init(&m.sets, filter_limits.sets);
	if (!m.heads || !m.set)
		err = -ENOMEM;
	if (!err)
		err = make_sets(&m);
	if (err)
		goto out;
	/* at most 11 of 16 ways in use; 8 bits of Bloom filter for a name */
	buckets = filter_limits.buckets_min ? filter_limits.buckets_min : power_of_two(b->heads / 11ULL * 2 + BUCKETS_MIN);
	words = power_of_two(b->heads / 8ULL + 1);
	while ((err = make_image(&m, buckets, words, ret)) == -ENOSPC && buckets <= ITEMS_MAX)
		buckets *= 2;
	if (!err)
		*ret_asked = m.asked;
out:
	filter_sets_done(&m.sets);
	free(m.heads);
	free(m.set);
	return err;
}

int filter_builder_make(const struct filter_builder *b, struct filter **ret, uint64_t *ret_asked, struct err_at *reterr)
{
	struct filter *f = calloc(1, sizeof(*f));
	int err = f ? make(b, f, ret_asked) : -ENOMEM;

	if (err) {
		free(f);
		return err_why(reterr, err, "cannot compile %u names: %s", b->heads, strerror(-err));
	}
	*ret = f;
	return 0;
}

struct filter *filter_empty(const struct mr_secret *secret)
{
	struct filter_builder *b = filter_builder_new(secret);
	struct filter *f = NULL;
	uint64_t asked;

	if (b)
		filter_builder_make(b, &f, &asked, NULL);
	filter_builder_free(b);
	return f;
}

/* ---- writing ---- */

static int write_all(int fd, const uint8_t *p, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, p, size);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			size -= (size_t)n;
		}
	}
	return fsync(fd) ? -errno : 0;
}

/* So that the new name outlives a power cut. */
static int sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	int fd, err = 0;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		err = -errno;
	close(fd);
	return err;
}

static int write_file(const char *path, const char *temporary, const struct filter *f, struct err_at *reterr)
{
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return err_why(reterr, -errno, "cannot make %s: %s", temporary, strerror(errno));
	err = write_all(fd, f->image, f->size);
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
	err = sync_folder(path);
	return err ? err_why(reterr, err, "cannot sync the folder of %s: %s", path, strerror(-err)) : 0;
}

int filter_builder_write(struct filter_builder *b, const char *path, uint64_t *ret_asked, struct err_at *reterr)
{
	char temporary[4096];
	struct filter f = { 0 };
	uint64_t asked;
	int err;

	err_where(reterr, path, 0, NULL);
	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return err_why(reterr, -ENAMETOOLONG, "the path is too long");
	err = make(b, &f, &asked);
	if (err)
		return err_why(reterr, err, "cannot compile %u names: %s", b->heads, strerror(-err));
	err = write_file(path, temporary, &f, reterr);
	if (!err)
		*ret_asked = asked;
	munmap(f.image, f.size);
	return err;
}
