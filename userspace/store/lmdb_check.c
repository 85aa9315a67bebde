/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_check.c - walks LMDB's file, page by page, and believes nothing.
 *
 * The layout is that of LMDB 0.9 (data version 1) on 64-bit machines: two meta
 * pages, of which the one with the higher transaction is in force; from it two
 * trees, that of free pages and that of the data.  A page is in one place only.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/lmdb_check.h"

#define MAGIC      0xbeefc0deU
#define VERSION    1
#define NO_PAGE    UINT64_MAX
#define DEPTH_MAX  32			/* of LMDB's cursors */
#define PAGE_MIN   256
#define PAGE_MAX   65536

enum page_flag { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum node_flag { NODE_BIG = 1 };

struct page_head {
	uint64_t number;
	uint16_t pad;
	uint16_t flags;
	uint16_t lower;			/* end of the nodes' offsets; of big values: pages, with upper, as 32 bits */
	uint16_t upper;			/* where nodes begin */
};

struct node_head {
	uint16_t low, high;		/* of the size of the data, or the page */
	uint16_t flags;			/* of a branch: the page's upper part */
	uint16_t key_size;
};

struct tree {
	uint32_t page_size;		/* of the first tree only */
	uint16_t flags;
	uint16_t depth;
	uint64_t branches, leaves, overflows, entries;
	uint64_t root;
};

struct meta {
	uint32_t magic, version;
	uint64_t address;
	uint64_t map_size;
	struct tree tree[2];		/* of free pages; of the data */
	uint64_t last_page;
	uint64_t transaction;
};

struct check {
	int fd;
	uint32_t page_size;
	uint64_t file_pages;		/* whole ones that are there */
	uint64_t last_page;
	uint8_t *seen;			/* a bit for each page: in use, or listed as free */
	struct err_at *reterr;
	uint8_t *page[DEPTH_MAX];	/* of the way down */
	uint8_t *big;			/* a value of several pages */
	size_t big_size;
	bool free_tree;
	struct tree found;		/* as counted */
};

static int bad(struct check *c, uint64_t page, const char *what)
{
	return err_why(c->reterr, -EBADMSG, "page %llu: %s", (unsigned long long)page, what);
}

static int read_at(int fd, void *to, size_t size, uint64_t at)
{
	ssize_t n;

	while (size) {
		n = pread(fd, to, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EBADMSG;
		to = (char *)to + n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* Note that a page has its place; an error when it has one already, or there is no such page. */
static int claim(struct check *c, uint64_t page)
{
	uint8_t bit = (uint8_t)(1 << page % 8);

	if (page < 2 || page > c->last_page)
		return bad(c, page, "there is no such page");
	if (c->seen[page / 8] & bit)
		return bad(c, page, "it is in two places");
	c->seen[page / 8] |= bit;
	return 0;
}

static int load(struct check *c, uint64_t page, void *to, struct page_head *ret)
{
	int err = claim(c, page);

	if (err)
		return err;
	if (page >= c->file_pages)
		return bad(c, page, "the file ends before it");
	err = read_at(c->fd, to, c->page_size, page * c->page_size);
	if (err)
		return err == -EBADMSG ? bad(c, page, "it cannot be read whole") : err;
	memcpy(ret, to, sizeof(*ret));
	return ret->number == page ? 0 : bad(c, page, "it has another number");
}

/* ---- values ---- */

/* What is free, as LMDB keeps it: how many, then their numbers, falling. */
static int check_free(struct check *c, uint64_t page, const uint8_t *data, uint64_t size)
{
	uint64_t count, number, before = NO_PAGE, i;
	int err = 0;

	if (size < sizeof(count) || size % sizeof(count))
		return bad(c, page, "a list of free pages of an odd size");
	memcpy(&count, data, sizeof(count));
	if (count > size / sizeof(count) - 1)
		return bad(c, page, "a list of free pages that is longer than itself");
	for (i = 0; i < count && !err; i++) {
		memcpy(&number, data + (i + 1) * sizeof(number), sizeof(number));
		if (number >= before)
			return bad(c, page, "a list of free pages that is not in order");
		before = number;
		err = claim(c, number);
	}
	return err;
}

/* A value that has pages of its own. */
static int check_big(struct check *c, uint64_t page, uint64_t size)
{
	struct page_head h;
	uint64_t pages = (sizeof(h) + size + c->page_size - 1) / c->page_size, i;
	uint8_t *more;
	uint32_t said;
	int err = 0;

	for (i = 0; i < pages && !err; i++)
		err = claim(c, page + i);
	if (err)
		return err;
	if (page + pages > c->file_pages)
		return bad(c, page, "the file ends before it does");
	if (pages * c->page_size > c->big_size) {
		more = realloc(c->big, pages * c->page_size);
		if (!more)
			return -ENOMEM;
		c->big = more;
		c->big_size = pages * c->page_size;
	}
	err = read_at(c->fd, c->big, c->free_tree ? pages * c->page_size : sizeof(h), page * c->page_size);
	if (err)
		return err;
	memcpy(&h, c->big, sizeof(h));
	memcpy(&said, c->big + 12, sizeof(said));
	if (h.number != page || h.flags != PAGE_OVERFLOW || said != pages)
		return bad(c, page, "it is not the value that it should be");
	c->found.overflows += pages;
	return c->free_tree ? check_free(c, page, c->big + sizeof(h), size) : 0;
}

static int check_value(struct check *c, uint64_t page, const struct node_head *n, const uint8_t *data, size_t left)
{
	uint64_t size = n->low | (uint64_t)n->high << 16, big;

	c->found.entries++;
	if (n->key_size != sizeof(uint64_t))
		return bad(c, page, "a key of another size");
	if (n->flags == NODE_BIG) {
		if (left < sizeof(big))
			return bad(c, page, "a value that leaves the page");
		memcpy(&big, data, sizeof(big));
		return check_big(c, big, size);
	}
	if (n->flags)
		return bad(c, page, "a value of another kind");
	if (size > left)
		return bad(c, page, "a value that leaves the page");
	return c->free_tree ? check_free(c, page, data, size) : 0;
}

/* ---- trees ---- */

static int check_page(struct check *c, uint64_t page, unsigned depth, unsigned depth_max);

static int check_node(struct check *c, uint64_t page, unsigned depth, unsigned depth_max, bool leaf, size_t at)
{
	const uint8_t *p = c->page[depth];
	struct node_head n;
	size_t end;

	memcpy(&n, p + at, sizeof(n));
	end = at + sizeof(n) + n.key_size;
	if (end > c->page_size)
		return bad(c, page, "a key that leaves the page");
	if (leaf)
		return check_value(c, page, &n, p + end, c->page_size - end);
	return check_page(c, n.low | (uint64_t)n.high << 16 | (uint64_t)n.flags << 32, depth + 1, depth_max);
}

static int check_page(struct check *c, uint64_t page, unsigned depth, unsigned depth_max)
{
	bool leaf = depth + 1 == depth_max;
	struct page_head h;
	unsigned i, nodes;
	uint16_t at;
	int err;

	if (!c->page[depth])
		c->page[depth] = malloc(c->page_size);
	if (!c->page[depth])
		return -ENOMEM;
	err = load(c, page, c->page[depth], &h);
	if (err)
		return err;
	if (h.flags != (leaf ? PAGE_LEAF : PAGE_BRANCH))
		return bad(c, page, "it is of another kind");
	nodes = (h.lower - sizeof(h)) / 2;
	if (h.lower < sizeof(h) || h.lower > h.upper || h.upper > c->page_size || nodes < (leaf ? 1 : 2))
		return bad(c, page, "its parts do not agree");
	*(leaf ? &c->found.leaves : &c->found.branches) += 1;
	for (i = 0; i < nodes && !err; i++) {
		memcpy(&at, c->page[depth] + sizeof(h) + 2 * i, sizeof(at));
		if (at < h.upper || at + sizeof(struct node_head) > c->page_size)
			return bad(c, page, "an entry outside of it");
		err = check_node(c, page, depth, depth_max, leaf, at);
	}
	return err;
}

static int check_tree(struct check *c, const struct tree *t)
{
	int err = 0;

	c->found = (struct tree){ 0 };
	if ((t->root == NO_PAGE) != !t->depth || t->depth > DEPTH_MAX)
		return bad(c, 0, "a tree without a root");
	if (t->depth)
		err = check_page(c, t->root, 0, t->depth);
	if (!err && (c->found.branches != t->branches || c->found.leaves != t->leaves ||
		     c->found.overflows != t->overflows || c->found.entries != t->entries))
		err = bad(c, t->root, "the tree has not as much as it says");
	return err;
}

/* ---- the file ---- */

static int read_meta(struct check *c, uint64_t at, struct meta *ret)
{
	uint8_t page[sizeof(struct page_head) + sizeof(*ret)];
	struct page_head h;
	int err = read_at(c->fd, page, sizeof(page), at);

	if (err)
		return err == -EBADMSG ? -EPROTONOSUPPORT : err;
	memcpy(&h, page, sizeof(h));
	memcpy(ret, page + sizeof(h), sizeof(*ret));
	return h.flags & PAGE_META && ret->magic == MAGIC && ret->version == VERSION ? 0 : -EPROTONOSUPPORT;
}

static int check_metas(struct check *c, struct meta *ret)
{
	struct meta first, second;
	uint32_t size;
	int err = read_meta(c, 0, &first);

	if (err)
		return err == -EPROTONOSUPPORT ? err_why(c->reterr, err, "this is no database of LMDB's that is known here") : err;
	size = first.tree[0].page_size;
	if (size < PAGE_MIN || size > PAGE_MAX || size & (size - 1))
		return bad(c, 0, "pages of a size that cannot be");
	err = read_meta(c, size, &second);
	if (err)
		return err == -EPROTONOSUPPORT ? bad(c, 1, "it is not what it should be") : err;
	*ret = first.transaction < second.transaction ? second : first;
	if (ret->tree[0].page_size != size || second.tree[0].page_size != size)
		return bad(c, 1, "pages of another size");
	c->page_size = size;
	c->last_page = ret->last_page;
	return 0;
}

int lmdb_check(int fd, struct err_at *reterr)
{
	struct check c = { .fd = fd, .reterr = reterr };
	struct meta m;
	struct stat st;
	int err, i;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return -ENODATA;
	err = check_metas(&c, &m);
	if (err)
		return err;
	c.file_pages = (uint64_t)st.st_size / c.page_size;
	/* pages behind the file's end are free ones that were never written */
	if (m.last_page < 1 || m.last_page >= m.map_size / c.page_size || m.map_size > (uint64_t)1 << 40)
		return bad(&c, 0, "a last page that cannot be");
	if (m.tree[1].flags)
		return err_why(reterr, -EPROTONOSUPPORT, "this is a database of another program");
	c.seen = calloc(1, m.last_page / 8 + 1);
	err = c.seen ? 0 : -ENOMEM;
	c.free_tree = true;
	if (!err)
		err = check_tree(&c, &m.tree[0]);
	c.free_tree = false;
	if (!err)
		err = check_tree(&c, &m.tree[1]);
	for (i = 0; i < DEPTH_MAX; i++)
		free(c.page[i]);
	free(c.big);
	free(c.seen);
	return err;
}
