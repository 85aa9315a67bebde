/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_name.c - walking, lower-casing and hashing names (maps/name.h).
 */
#include <ctype.h>
#include <stdio.h>
#include "unit/maps/rows.h"

#define W(s) s, sizeof(s) - 1
#define X10  "xxxxxxxxxx"
#define X63  X10 X10 X10 X10 X10 X10 "xxx"
#define L63  "\x3f" X63

struct walk_case {
	const char *name;
	const char *wire;
	size_t avail;
	int ret;
	int len;
	int labels;
};

static const struct walk_case walks[] = {
	{ "walk: the root", W("\0"), 0, 1, 0 },
	{ "walk: two labels", W("\3www\2nl\0"), 0, 8, 2 },
	{ "walk: what follows the root byte is not the name's", W("\3www\0\0\1\0\1"), 0, 5, 1 },
	{ "walk: a pointer is refused", W("\3www\xc0\x0c"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: a pointer at once is refused", W("\xc0\x0c"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: a label of type 01 is refused", W("\x40x\0"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: a label of type 10 is refused", W("\x80x\0"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: a name that runs past the message", W("\7exam"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: a name without its root byte", W("\3www"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: nothing there", W(""), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: a label of 63", W(L63 "\0"), 0, 65, 1 },
	{ "walk: 255 octets", W(L63 L63 L63 "\x3d" X10 X10 X10 X10 X10 X10 "x\0"), 0, 255, 4 },
	{ "walk: 256 octets are refused", W(L63 L63 L63 "\x3e" X10 X10 X10 X10 X10 X10 "xx\0"), MR_NAME_MALFORMED, 0, 0 },
	{ "walk: sixteen labels", W("\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\0"), 0, 33, 16 },
	{ "walk: seventeen labels are too deep", W("\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\0"), MR_NAME_DEEP, 0, 0 },
	{ "walk: seventeen labels, broken later, are too deep", W("\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\1a\xff"), MR_NAME_DEEP, 0, 0 },
};

static void walk_row(void **state)
{
	const struct walk_case *c = *state;
	struct mr_name n;

	/* to the end of what may be read, or of what may be the name's: the first of both */
	assert_int_equal(mr_name_walk(&n, (const __u8 *)c->wire, (const __u8 *)c->wire + c->avail, 1000, 0), c->ret);
	assert_int_equal(mr_name_walk(&n, (const __u8 *)c->wire, (const __u8 *)c->wire + c->avail + 1,
				      (unsigned int)c->avail, 0), c->ret);
	if (c->ret)
		return;
	assert_int_equal(n.len, c->len);
	assert_int_equal(n.labels, c->labels);
	assert_int_equal(n.left[0], 0);
	assert_int_equal(n.left[n.labels], n.len - 1);
}

struct vector {
	const char *text;
	__u64 h0;
	__u64 h1;
};

static const struct vector vectors[] = {
	{ ".", 0xcfbcdde1849c023aULL, 0x554953fd51bcdc40ULL },
	{ "com", 0x59173db573c31f87ULL, 0xeb1f6fc73a70fe6aULL },
	{ "example.com", 0x1e96183f927c068bULL, 0x563f6e10931a848fULL },
	{ "www.example.com", 0xa187f5dc9cd5f40dULL, 0x5440bedcf7c5d7eeULL },
	{ "WwW.eXAMPLE.cOm", 0xa187f5dc9cd5f40dULL, 0x5440bedcf7c5d7eeULL },
	{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 0x10b48e593396d221ULL, 0xdd6f171c76db7dd7ULL },
	{ X63 ".1234567.12345678", 0x455edabfe3c1db0cULL, 0x7b3a8d111a3a6ccbULL },
	{ X63 "." X63 "." X63 "." X10 X10 X10 X10 X10 X10 "x", 0xf7a65d7267f97b52ULL, 0xb36ef7f8a520058fULL },
};

static void vector_row(void **state)
{
	const struct vector *v = *state;
	struct mr_secret s;
	struct mr_name n;

	row_secret(&s);
	row_hash(&n, v->text, &s);
	assert_true(n.hash[n.labels].h0 == v->h0);
	assert_true(n.hash[n.labels].h1 == v->h1);
}

/* Each parent's hash is that of the parent as a name of its own. */
static void parents_fall_out(void **state)
{
	struct mr_secret s;
	struct mr_name n, p;
	int i;

	row_secret(&s);
	row_hash(&n, "a.bc.12345678.123456789.x", &s);
	for (i = 0; i <= n.labels; i++) {
		memset(&p, 0, sizeof(p));
		p.len = (__u16)(n.len - n.left[n.labels - i]);
		memcpy(p.text, n.text + n.left[n.labels - i], p.len);
		assert_int_equal(mr_name_hash(&p, &s), 0);
		assert_int_equal(p.labels, i);
		assert_memory_equal(&p.hash[i], &n.hash[i], sizeof(n.hash[i]));
	}
}

/* Words end where the name ends, zeros stand before it, and each sum is over the words behind it. */
static void words_are_taken_from_the_end(void **state)
{
	struct mr_lanes sum = { 0, 0 };
	struct mr_secret s;
	struct mr_name n;

	row_secret(&s);
	row_hash(&n, "www.example.com", &s);
	assert_int_equal(n.len, 17);
	assert_memory_equal(&n.word[0], "ple\3com", 8);
	assert_memory_equal(&n.word[1], "www\7exam", 8);
	assert_memory_equal(&n.word[2], "\0\0\0\0\0\0\0\3", 8);
	for (int j = 0; j < 3; j++) {
		assert_true(n.before[j].a0 == sum.a0 && n.before[j].a1 == sum.a1);
		sum.a0 += mr_nh(n.word[j], s.name[j][0]);
		sum.a1 += mr_nh(n.word[j], s.name[j][1]);
	}
	assert_true(n.hash[3].h0 == mr_finish(sum.a0) && n.hash[3].h1 == mr_finish(sum.a1));
}

static void wrong_length_is_malformed(void **state)
{
	struct mr_secret s;
	struct mr_name n;

	row_secret(&s);
	row_name(&n, "example.com");
	n.len++;
	assert_int_equal(mr_name_hash(&n, &s), MR_NAME_MALFORMED);
	row_name(&n, "example.com");
	n.len--;
	assert_int_equal(mr_name_hash(&n, &s), MR_NAME_MALFORMED);
}

static void lower8_is_tolower_for_every_octet_and_place(void **state)
{
	__u8 in[8], out[8];
	__u64 w;
	int c, i;

	for (c = 0; c < 256; c++)
		for (i = 0; i < 8; i++) {
			memset(in, 'Z', 8);
			in[i] = (__u8)c;
			w = mr_lower8(mr_load64(in));
			memcpy(out, &w, 8);
			assert_int_equal(out[i], c < 128 ? tolower(c) : c);
			assert_int_equal(out[(i + 1) & 7], 'z');
		}
}

/* No structure of the names shows in the hashes: 200,000 of them, no pair alike. */
static int compare(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static void similar_names_do_not_collide(void **state)
{
	size_t count = 200000, i;
	__u64 *tag = malloc(count * sizeof(*tag));
	struct mr_secret s;
	struct mr_name n;
	char text[64];

	assert_non_null(tag);
	row_secret(&s);
	for (i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%zx.%zu.example%zu.com", i & 0xff, i >> 12, i >> 8 & 15);
		row_hash(&n, text, &s);
		tag[i] = n.hash[n.labels].h0 ^ n.hash[n.labels].h1 << 1;
	}
	qsort(tag, count, sizeof(*tag), compare);
	for (i = 1; i < count; i++)
		assert_true(tag[i - 1] != tag[i]);
	free(tag);
}

static void buckets_fill_evenly(void **state)
{
	static unsigned int fill[2][1024];
	struct mr_secret s;
	struct mr_name n;
	char text[64];
	int i, j, b;

	memset(fill, 0, sizeof(fill));
	row_secret(&s);
	for (i = 0; i < 65536; i++) {
		snprintf(text, sizeof(text), "ad%d.example.com", i);
		row_hash(&n, text, &s);
		fill[0][n.hash[3].h1 & 1023]++;
		fill[1][n.hash[3].h1 >> 32 & 1023]++;
	}
	for (j = 0; j < 2; j++)
		for (b = 0; b < 1024; b++)
			assert_in_range(fill[j][b], 64 - 50, 64 + 50);
}

static void another_secret_gives_another_hash(void **state)
{
	struct mr_secret s;
	struct mr_name a, b;
	size_t i;

	row_secret(&s);
	row_hash(&a, "www.example.com", &s);
	/* each word that such a name uses counts */
	for (i = 0; i < 4; i++) {
		row_secret(&s);
		switch (i) {
		case 0: s.name[0][0]++; break;
		case 1: s.name[1][1]++; break;
		case 2: s.name[2][0]++; break;
		case 3: s.name[2][1] ^= 1ULL << 63; break;
		}
		row_hash(&b, "www.example.com", &s);
		assert_memory_not_equal(&a.hash[3], &b.hash[3], sizeof(a.hash[3]));
	}
}

int main(void)
{
	struct CMUnitTest tests[COUNT(walks) + COUNT(vectors) + 16];
	static char names[COUNT(vectors)][128];
	size_t n = 0, i;

	for (i = 0; i < COUNT(walks); i++)
		row_add(tests, &n, walks[i].name, walk_row, &walks[i]);
	for (i = 0; i < COUNT(vectors); i++) {
		snprintf(names[i], sizeof(names[i]), "vector: %.60s", vectors[i].text);
		row_add(tests, &n, names[i], vector_row, &vectors[i]);
	}
	row_add(tests, &n, "the hashes of the parents fall out", parents_fall_out, NULL);
	row_add(tests, &n, "a length that is not the name's is malformed", wrong_length_is_malformed, NULL);
	row_add(tests, &n, "eight octets at once are lower-cased as one by one", lower8_is_tolower_for_every_octet_and_place, NULL);
	row_add(tests, &n, "words are taken from the end of the name", words_are_taken_from_the_end, NULL);
	row_add(tests, &n, "similar names do not collide", similar_names_do_not_collide, NULL);
	row_add(tests, &n, "buckets fill evenly by both choices", buckets_fill_evenly, NULL);
	row_add(tests, &n, "every key counts", another_secret_gives_another_hash, NULL);
	return _cmocka_run_group_tests("name", tests, n, NULL, NULL);
}
