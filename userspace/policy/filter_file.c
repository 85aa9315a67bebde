/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_file.c - opens a compiled filter and believes nothing in it.
 *
 * Its parts' places follow from the counts in the header, so the file's size
 * checks them all; the sum covers every octet; numbers that are used as an
 * index are bounded one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/sum.h"
#include "policy/filter_file.h"

_Static_assert(sizeof(struct filter_header) <= FILTER_PAGE, "the header has outgrown its page");

static uint64_t page_up(uint64_t n)
{
	return (n + FILTER_PAGE - 1) & ~(uint64_t)(FILTER_PAGE - 1);
}

struct filter_layout filter_layout(const struct filter_header *h)
{
	struct filter_layout l;

	l.buckets = FILTER_PAGE;
	l.bloom = l.buckets + page_up((h->unit.bucket_mask + 1ULL) * sizeof(struct mr_filter_bucket));
	l.set_at = l.bloom + page_up((h->unit.bloom_mask + 1ULL) * sizeof(uint64_t));
	l.members = l.set_at + page_up((h->sets + 1ULL) * sizeof(uint32_t));
	l.folded = l.members + page_up(h->members * (uint64_t)sizeof(struct filter_member));
	l.size = l.folded + page_up(h->folded * (uint64_t)sizeof(struct filter_folded));
	return l;
}

uint64_t filter_sum(const uint8_t *image, size_t size)
{
	struct filter_header h;
	uint64_t sum;

	memcpy(&h, image, sizeof(h));
	h.sum = 0;
	sum = sum_bytes(size, &h, sizeof(h));
	return sum_bytes(sum, image + sizeof(h), size - sizeof(h));
}

static const struct filter_header *header(const struct filter *f)
{
	return (const struct filter_header *)f->image;
}

static bool is_mask(uint32_t mask)
{
	return (mask & (mask + 1U)) == 0 && mask < 1U << 28;
}

/* Is it ours, of this version, and of this secret? */
static int check_kind(const struct filter *f, const struct mr_secret *secret, struct err_at *reterr)
{
	const struct filter_header *h = header(f);

	if (f->size < FILTER_PAGE || h->magic != FILTER_MAGIC)
		return err_why(reterr, -EBADMSG, "not a compiled filter");
	if (h->version != FILTER_VERSION || h->header_size != sizeof(*h))
		return err_why(reterr, -ESTALE, "made by another version (%u, this is %u)", h->version, FILTER_VERSION);
	if (h->unit.fingerprint != secret->fingerprint)
		return err_why(reterr, -ESTALE, "made with another secret");
	return 0;
}

/* Do the counts fit each other and the file? */
static int check_bounds(const struct filter *f, struct err_at *reterr)
{
	const struct filter_header *h = header(f);
	const struct mr_unit *u = &h->unit;

	if (!is_mask(u->bucket_mask) || !is_mask(u->bloom_mask))
		return err_why(reterr, -EBADMSG, "damaged: a table's size is no power of two");
	if (!u->sets || u->sets > MR_SET_ASK || h->members > FILTER_MEMBERS_MAX)
		return err_why(reterr, -EBADMSG, "damaged: %u sets, %u members", u->sets, h->members);
	if (h->folded > FILTER_FOLDED_MAX || h->sets < u->sets || h->sets - u->sets > h->folded)
		return err_why(reterr, -EBADMSG, "damaged: %u folded names, %u of %u sets are the kernel's", h->folded, u->sets,
			       h->sets);
	if (u->stash_count > MR_STASH_MAX)
		return err_why(reterr, -EBADMSG, "damaged: %u entries in the stash", u->stash_count);
	if (u->bucket_base || u->bloom_base || u->verdict_base || u->groups)
		return err_why(reterr, -EBADMSG, "damaged: a base is not 0");
	if (h->size != f->size || filter_layout(h).size != f->size)
		return err_why(reterr, -EBADMSG, "damaged: %zu bytes long, expected %llu", f->size,
			       (unsigned long long)filter_layout(h).size);
	if (filter_sum(f->image, f->size) != h->sum)
		return err_why(reterr, -EBADMSG, "damaged: the sum is not right");
	return 0;
}

/* What is followed when sets become verdicts. */
static int check_sets(const struct filter *f, struct err_at *reterr)
{
	const struct filter_header *h = header(f);
	const struct filter_layout l = filter_layout(h);
	const uint32_t *at = (const uint32_t *)(f->image + l.set_at);
	const struct filter_member *m = (const struct filter_member *)(f->image + l.members);
	uint32_t i, kind;

	for (i = 0; i < h->sets; i++)
		if ((at[i] & ~FILTER_SET_SUBTREE) > (at[i + 1] & ~FILTER_SET_SUBTREE))
			return err_why(reterr, -EBADMSG, "damaged: set %u ends before it starts", i);
	if (at[0] || (at[1] & ~FILTER_SET_SUBTREE) || at[h->sets] != h->members)
		return err_why(reterr, -EBADMSG, "damaged: the sets have %u members, expected %u", at[h->sets], h->members);
	for (i = 0; i < h->members; i++) {
		kind = m[i].action & ~FILTER_BELOW;
		if (m[i].list >= FILTER_LISTS_MAX || kind < MR_BLOCK || kind > MR_IMPORTANT_ALLOW)
			return err_why(reterr, -EBADMSG, "damaged: member %u", i);
	}
	return 0;
}

/* What is searched for a name, and followed to a set. */
static int check_folded(const struct filter *f, struct err_at *reterr)
{
	const struct filter_header *h = header(f);
	const struct filter_folded *r = (const struct filter_folded *)(f->image + filter_layout(h).folded);
	uint32_t i;

	for (i = 0; i < h->folded; i++)
		if (r[i].set < h->unit.sets || r[i].set >= h->sets || r[i].pad ||
		    (i && (r[i - 1].h0 > r[i].h0 || (r[i - 1].h0 == r[i].h0 && r[i - 1].h1 > r[i].h1))))
			return err_why(reterr, -EBADMSG, "damaged: folded name %u", i);
	return 0;
}

static int map_file(const char *path, struct filter *f, struct err_at *reterr)
{
	struct stat st;
	int fd, err = file_open(path, &fd, &st);

	if (err == -EISDIR || err == -ENOTSUP)
		return err_why(reterr, -EBADMSG, "not a compiled filter");
	if (err)
		return err_why(reterr, err, "cannot open: %s", strerror(-err));
	if (!S_ISREG(st.st_mode) || st.st_size < FILTER_PAGE)
		err = err_why(reterr, -EBADMSG, "not a compiled filter");
	if (!err) {
		f->size = (size_t)st.st_size;
		f->image = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (f->image == MAP_FAILED) {
			f->image = NULL;
			err = err_why(reterr, -errno, "cannot map: %s", strerror(errno));
		}
	}
	close(fd);
	return err;
}

int filter_open(const char *path, const struct mr_secret *secret, struct filter **ret, struct err_at *reterr)
{
	struct filter *f = calloc(1, sizeof(*f));
	int err;

	err_where(reterr, path, 0, NULL);
	if (!f)
		return err_why(reterr, -ENOMEM, "no memory");
	err = map_file(path, f, reterr);
	if (!err)
		err = check_kind(f, secret, reterr);
	if (!err)
		err = check_bounds(f, reterr);
	if (!err)
		err = check_sets(f, reterr);
	if (!err)
		err = check_folded(f, reterr);
	if (err) {
		filter_free(f);
		return err;
	}
	*ret = f;
	return 0;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	if (f->image)
		munmap(f->image, f->size);
	free(f);
}

const struct mr_unit *filter_unit(const struct filter *f)
{
	return &header(f)->unit;
}

const struct mr_filter_bucket *filter_buckets(const struct filter *f)
{
	return (const struct mr_filter_bucket *)(f->image + filter_layout(header(f)).buckets);
}

const uint64_t *filter_bloom(const struct filter *f)
{
	return (const uint64_t *)(f->image + filter_layout(header(f)).bloom);
}

uint64_t filter_rules(const struct filter *f)
{
	return header(f)->rules;
}

uint64_t filter_asked(const struct filter *f)
{
	return header(f)->folded + header(f)->untold;
}

uint64_t filter_untold(const struct filter *f)
{
	return header(f)->untold;
}

/* ---- members ---- */

/* Behind the last set that has members there are spare ones. */
static uint32_t count_used(const struct filter_members *m)
{
	const struct filter_member *end;
	uint32_t used = m->sets;

	while (used > 1 && filter_set_members(m, used - 1, &end) == end)
		used--;
	return used;
}

struct filter_members *filter_members_copy(const struct filter *f)
{
	const struct filter_header *h = header(f);
	const struct filter_layout l = filter_layout(h);
	size_t rows = h->folded * sizeof(struct filter_folded), places = (h->sets + 1ULL) * sizeof(uint32_t);
	size_t size = h->members * sizeof(struct filter_member);
	struct filter_members *m = malloc(sizeof(*m) + rows + places + size +
					  FILTER_SPARE_MEMBERS * sizeof(struct filter_member));
	uint8_t *to = (uint8_t *)(m + 1);

	if (!m)
		return NULL;
	/* the widest first: each stands where its type may */
	memcpy(to, f->image + l.folded, rows);
	memcpy(to + rows, f->image + l.set_at, places);
	memcpy(to + rows + places, f->image + l.members, size);
	*m = (struct filter_members){
		.sets = h->unit.sets, .folded = h->folded, .untold = h->untold, .row = (const struct filter_folded *)to,
		.at = (const uint32_t *)(to + rows), .member = (const struct filter_member *)(to + rows + places),
		.room = FILTER_SPARE_MEMBERS,
	};
	m->used = count_used(m);
	return m;
}

void filter_members_free(struct filter_members *m)
{
	free(m);
}

/* Whether the row is before all of that hash. */
static bool is_below(const struct filter_folded *r, struct mr_hash h)
{
	return r->h0 != h.h0 ? r->h0 < h.h0 : r->h1 < h.h1;
}

uint32_t filter_folded_set(const struct filter_members *m, struct mr_hash h, bool subtree)
{
	uint32_t low = 0, high = m->folded, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (is_below(&m->row[middle], h))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < m->folded && m->row[low].h0 == h.h0 && m->row[low].h1 == h.h1; low++)
		if (filter_set_is_subtree(m, m->row[low].set) == subtree)
			return m->row[low].set;
	return 0;
}
