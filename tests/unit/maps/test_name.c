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

	memset(&n, 0, sizeof(n));
	memcpy(n.text, c->wire, c->avail);
	assert_int_equal(mr_name_walk(&n, (unsigned int)c->avail, 0), c->ret);
	if (c->ret)
		return;
	assert_int_equal(n.len, c->len);
	assert_int_equal(n.labels, c->labels);
}

struct vector {
	const char *text;
	__u64 h0;
	__u64 h1;
};

static const struct vector vectors[] = {
	{ ".", 0x6a00d1114079464eULL, 0x7a9a301ca7fe82fcULL },
	{ "com", 0x1da63d920c2c0c9aULL, 0x3494516c926c884aULL },
	{ "example.com", 0x3002dd810aa091bfULL, 0xcb52e5d8bfae0f94ULL },
	{ "www.example.com", 0x954f2290c8b16f1dULL, 0x789814eedca0b962ULL },
	{ "WwW.eXAMPLE.cOm", 0x954f2290c8b16f1dULL, 0x789814eedca0b962ULL },
	{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", 0x44496b42a8a0bd0dULL, 0xe9a31edddecba4beULL },
	{ X63 ".1234567.12345678", 0xe922bed04b33074aULL, 0x7173bf38f65fdba7ULL },
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

/* Each parent's hash is that of the parent as a name of its own, and at[] says where it starts. */
static void parents_fall_out(void **state)
{
	struct mr_secret s;
	struct mr_name n, p;
	int i;

	row_secret(&s);
	row_hash(&n, "a.bc.12345678.123456789.x", &s);
	for (i = 1; i <= n.labels; i++) {
		memset(&p, 0, sizeof(p));
		p.len = (__u16)(n.len - n.at[i - 1]);
		memcpy(p.text, n.text + n.at[i - 1], p.len);
		assert_int_equal(mr_name_hash(&p, &s, 0), 0);
		assert_int_equal(p.labels, i);
		assert_memory_equal(&p.hash[i], &n.hash[i], sizeof(n.hash[i]));
	}
	assert_int_equal(n.at[n.labels - 1], 0);
}

static void wrong_length_is_malformed(void **state)
{
	struct mr_secret s;
	struct mr_name n;

	row_secret(&s);
	row_name(&n, "example.com");
	n.len++;
	assert_int_equal(mr_name_hash(&n, &s, 0), MR_NAME_MALFORMED);
	row_name(&n, "example.com");
	n.len--;
	assert_int_equal(mr_name_hash(&n, &s, 0), MR_NAME_MALFORMED);
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

static void lower_sums_the_octets_as_they_were(void **state)
{
	struct mr_name n;
	__u64 sum, plain;
	int len, i;

	for (len = 1; len <= 255; len++) {
		memset(&n, 0xAB, sizeof(n));
		for (i = 0; i < len; i++)
			n.text[i] = (__u8)(i * 37 + len);
		plain = 0;
		for (i = 0; i < len; i++)
			plain += (__u64)n.text[i] << 8 * (i & 1);
		sum = mr_name_lower(&n, (__u32)len);
		assert_int_equal(sum % 65535, plain % 65535);
		for (i = len; i & 7; i++)
			assert_int_equal(n.text[i], 0);
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
		case 0: s.label[0][0][0]++; break;
		case 1: s.fold[1][2][1]++; break;
		case 2: s.root[0]++; break;
		case 3: s.label[1][1][0]++; break;
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
	row_add(tests, &n, "lower-casing sums the octets as they were", lower_sums_the_octets_as_they_were, NULL);
	row_add(tests, &n, "similar names do not collide", similar_names_do_not_collide, NULL);
	row_add(tests, &n, "buckets fill evenly by both choices", buckets_fill_evenly, NULL);
	row_add(tests, &n, "every key counts", another_secret_gives_another_hash, NULL);
	return _cmocka_run_group_tests("name", tests, n, NULL, NULL);
}
