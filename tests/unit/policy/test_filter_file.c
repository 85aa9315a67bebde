/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter_file.c - compiled filters that are not what they should be, and
 * writing that fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "policy/filter_file.h"
#include "unit/policy/rig.h"

static uint8_t *slurp(size_t *ret_size)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	uint8_t *p;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	p = malloc((size_t)st.st_size);
	assert_non_null(p);
	assert_int_equal(read(fd, p, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return p;
}

static void spill(const uint8_t *p, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, size), size);
	close(fd);
}

static int try_open(struct err_at *e)
{
	struct filter *f = NULL;
	int err = filter_open(path, &secret, &f, e);

	assert_true(!err == (f != NULL));
	filter_free(f);
	return err;
}

/* One field of the header set to a value, its sum right or not. */
#define AT(member) offsetof(struct filter_header, member), sizeof(((struct filter_header *)0)->member)
static const struct damage {
	const char *name;
	size_t at, size;
	uint64_t value;
	int err;
	const char *why;
} damages[] = {
	{ "wrong magic number", AT(magic), 5, -EBADMSG, "not a compiled filter" },
	{ "other version", AT(version), FILTER_VERSION + 1, -ESTALE, "another version" },
	{ "other size of the header", AT(header_size), 8, -ESTALE, "another version" },
	{ "other secret", AT(unit.fingerprint), 77, -ESTALE, "another secret" },
	{ "wrong size", AT(size), 8192, -EBADMSG, "bytes long" },
	{ "members that are not there", AT(members), 5000, -EBADMSG, "bytes long" },
	{ "too many members", AT(members), 0xffffffff, -EBADMSG, "members" },
	{ "wrong number of members", AT(members), 3, -EBADMSG, "members, expected 3" },
	{ "buckets that are not there", AT(unit.bucket_mask), 0xfff, -EBADMSG, "bytes long" },
	{ "buckets that are no power of two", AT(unit.bucket_mask), 6, -EBADMSG, "power of two" },
	{ "buckets beyond all bounds", AT(unit.bucket_mask), 0xffffffff, -EBADMSG, "power of two" },
	{ "Bloom words that are no power of two", AT(unit.bloom_mask), 2, -EBADMSG, "power of two" },
	{ "Bloom words that are not there", AT(unit.bloom_mask), 0xffff, -EBADMSG, "bytes long" },
	{ "no set at all", AT(unit.sets), 0, -EBADMSG, "0 sets" },
	{ "too many sets", AT(unit.sets), MR_SETS_MAX, -EBADMSG, "16384 sets" },
	{ "sets that have no members", AT(sets), 2, -EBADMSG, "2 sets are the kernel's" },
	{ "sets beyond the kernel's without a folded name", AT(unit.sets), 2, -EBADMSG, "0 folded names, 2 of" },
	{ "folded names that are not there", AT(folded), 1, -EBADMSG, "bytes long" },
	{ "folded names beyond all bounds", AT(folded), FILTER_FOLDED_MAX + 1, -EBADMSG, "1048577 folded names" },
	{ "stash over its bound", AT(unit.stash_count), 17, -EBADMSG, "in the stash" },
	{ "a base", AT(unit.bucket_base), 1, -EBADMSG, "a base is not 0" },
	{ "a base of Bloom words", AT(unit.bloom_base), 1, -EBADMSG, "a base is not 0" },
	{ "a base of verdicts", AT(unit.verdict_base), 1, -EBADMSG, "a base is not 0" },
	{ "groups", AT(unit.groups), 1, -EBADMSG, "a base is not 0" },
};

static void damaged_header_is_refused(void **state)
{
	const struct damage *t = *state;
	struct filter_builder *b = build_entries();
	struct err_at e = { 0 };
	struct filter_header *h;
	uint8_t *image;
	size_t size;

	filter_free(compile(b, NULL));
	filter_builder_free(b);
	image = slurp(&size);
	memcpy(image + t->at, &t->value, t->size);
	h = (struct filter_header *)image;
	h->sum = filter_sum(image, size);	/* so that the field itself is what is looked at */
	spill(image, size);
	assert_int_equal(try_open(&e), t->err);
	if (!strstr(e.why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, e.why);
	assert_string_equal(e.file, path);
	free(image);
}

/* Members and set places, with a right sum: what verdicts would be read from. */
static void wild_sets_are_refused(void **state)
{
	struct filter_builder *b = build_entries();
	struct filter_layout l;
	struct filter_header *h;
	uint8_t *image, *copy;
	size_t size;
	static const struct {
		bool members;
		size_t at;
		uint32_t value;
	} wild[] = {
		{ false, 0, 1 }, { false, 4, 1 }, { false, 8, 0xffffffff }, { false, 12, 0 }, { true, 0, 0x00010400 }, { true, 0, 0 },
		{ true, 0, MR_LOCAL_ZONE << 16 },
	};
	size_t i;

	filter_free(compile(b, NULL));
	filter_builder_free(b);
	image = slurp(&size);
	copy = malloc(size);
	assert_non_null(copy);
	for (i = 0; i < COUNT_OF(wild); i++) {
		memcpy(copy, image, size);
		h = (struct filter_header *)copy;
		l = filter_layout(h);
		memcpy(copy + (wild[i].members ? l.members : l.set_at) + wild[i].at, &wild[i].value, 4);
		h->sum = filter_sum(copy, size);
		spill(copy, size);
		assert_int_equal(try_open(NULL), -EBADMSG);
	}
	free(image);
	free(copy);
}

/* Rows of folded names, with a right sum: what is searched, and followed to a set. */
static void wild_folded_names_are_refused(void **state)
{
	struct filter_builder *b = build_entries();
	struct filter_header *h;
	struct filter_folded *row;
	uint8_t *image, *copy;
	size_t size;
	unsigned i;

	filter_limits.sets = 3;
	filter_free(compile(b, NULL));
	filter_limits.sets = MR_SET_ASK;
	filter_builder_free(b);
	image = slurp(&size);
	copy = malloc(size);
	assert_non_null(copy);
	for (i = 0; i < 7; i++) {
		memcpy(copy, image, size);
		h = (struct filter_header *)copy;
		assert_true(h->folded > 4 && h->unit.sets == 3 && h->sets > 4);
		row = (struct filter_folded *)(copy + filter_layout(h).folded);
		switch (i) {
		case 1: row[2].set = 2; break;		/* the kernel's */
		case 2: row[2].set = h->sets; break;
		case 3: row[1].h0 = row[2].h0 + 1; break;
		case 4: row[1].h0 = row[2].h0; row[1].h1 = row[2].h1 + 1; break;
		case 5: row[0].pad = 1; break;
		case 6: h->untold = 7; break;
		}
		h->sum = filter_sum(copy, size);
		spill(copy, size);
		assert_int_equal(try_open(NULL), i % 6 ? -EBADMSG : 0);
	}
	free(image);
	free(copy);
}

static void every_flipped_bit_is_seen(void **state)
{
	struct filter_builder *b = build_entries();
	uint8_t *image;
	size_t size, at, n = 0;

	filter_free(compile(b, NULL));
	filter_builder_free(b);
	image = slurp(&size);
	for (at = 0; at < size; at += at < 700 ? 3 : 97, n++) {
		image[at] ^= (uint8_t)(1 << n % 8);
		spill(image, size);
		if (try_open(NULL) == 0)
			fail_msg("a flipped bit in octet %zu was not seen", at);
		image[at] ^= (uint8_t)(1 << n % 8);
	}
	spill(image, size);
	assert_int_equal(try_open(NULL), 0);
	free(image);
}

static void cut_and_long_files_are_refused(void **state)
{
	static const size_t cuts[] = { 0, 1, 100, 4095, 4096, 5000, 8192 };
	struct filter_builder *b = build_entries();
	uint8_t *image, *longer;
	size_t size, i;

	filter_free(compile(b, NULL));
	filter_builder_free(b);
	image = slurp(&size);
	for (i = 0; i < COUNT_OF(cuts); i++) {
		spill(image, cuts[i]);
		assert_int_equal(try_open(NULL), -EBADMSG);
	}
	spill(image, size - 1);
	assert_int_equal(try_open(NULL), -EBADMSG);
	longer = calloc(1, size + 4096);
	assert_non_null(longer);
	memcpy(longer, image, size);
	spill(longer, size + 4096);
	assert_int_equal(try_open(NULL), -EBADMSG);
	free(longer);
	free(image);
}

static void absent_file_and_folder_are_told_apart(void **state)
{
	struct err_at e = { 0 };
	int err;

	unlink(path);
	assert_int_equal(try_open(&e), -ENOENT);
	assert_string_equal(e.file, path);
	assert_int_equal(mkdir(path, 0700), 0);
	err = try_open(NULL);
	assert_int_equal(rmdir(path), 0);	/* first: the tests behind this one write there */
	assert_int_equal(err, -EBADMSG);
}

static void failed_write_leaves_the_old_file(void **state)
{
	struct filter_builder *b = build_entries();
	char temporary[128], nowhere[160];
	struct err_at e = { 0 };
	uint64_t asked;

	filter_free(compile(b, NULL));
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	assert_int_equal(mkdir(temporary, 0700), 0);	/* in the way of the temporary file */
	assert_int_equal(filter_write(b, 0, path, &asked, &e), -EISDIR);
	assert_non_null(strstr(e.why, temporary));
	assert_int_equal(rmdir(temporary), 0);
	assert_int_equal(try_open(NULL), 0);
	snprintf(nowhere, sizeof(nowhere), "%s/no/such/folder", folder);
	assert_int_equal(filter_write(b, 0, nowhere, &asked, &e), -ENOENT);
	filter_builder_free(b);
}

static void builder_can_write_twice(void **state)
{
	struct filter_builder *b = build_entries();
	struct world w;

	filter_free(compile(b, NULL));
	assert_int_equal(add(b, "late.example", false, 0, FILTER_BLOCK), 1);
	world_open(&w, compile(b, NULL), groups, 1);
	assert_int_equal(find(&w, "late.example", 0).kind, MR_BLOCK);
	assert_int_equal(find(&w, "two.example", 0).kind, MR_ALLOW);
	world_close(&w);
	filter_builder_free(b);
}

int main(void)
{
	static struct CMUnitTest tests[7 + COUNT_OF(damages)] = {
		cmocka_unit_test(wild_sets_are_refused),
		cmocka_unit_test(wild_folded_names_are_refused),
		cmocka_unit_test(every_flipped_bit_is_seen),
		cmocka_unit_test(cut_and_long_files_are_refused),
		cmocka_unit_test(absent_file_and_folder_are_told_apart),
		cmocka_unit_test(failed_write_leaves_the_old_file),
		cmocka_unit_test(builder_can_write_twice),
	};
	size_t n = 7, i;

	for (i = 0; i < COUNT_OF(damages); i++)
		tests[n++] = (struct CMUnitTest){ damages[i].name, damaged_header_is_refused, NULL, NULL, (void *)&damages[i] };
	return cmocka_run_group_tests_name("filter_file", tests, setup, teardown);
}
