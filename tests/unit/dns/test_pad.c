/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pad.c - padding of queries, and TTLs of answers that have waited on the way. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "dns/msg.h"
#include "dns/pad.h"
#include "dns/reply.h"
#include "unit/dns/rows.h"

#define WIRE(s) (const uint8_t *)(s), sizeof(s) - 1
#define HEADER "\0\0\1\0\0\1\0\0\0\0\0\1"
#define QUESTION "\1a\7example\0\0\1\0\1"
#define OPT "\0\0\51\4\320\0\0\0\0\0"	/* and the length of its data */

/* ---- queries ---- */

static const struct pad_case {
	const char *name;
	const uint8_t *query;
	size_t len;
	size_t room;
	size_t to;			/* 0: it stays as it is */
} pads[] = {
	{ "a_query_becomes_one_block", WIRE(HEADER QUESTION OPT "\0"), 512, 128 },
	{ "options_stay_in_front", WIRE(HEADER QUESTION OPT "\10\0\10\0\4\0\1\0\0"), 512, 128 },
	{ "what_fits_exactly_has_padding_without_octets",
	  WIRE(HEADER QUESTION OPT "\134\0\3\0\130........................................................................................"),
	  512, 256 },
	{ "no_room_is_no_padding", WIRE(HEADER QUESTION OPT "\0"), 127, 0 },
	{ "without_opt_there_is_no_padding", WIRE("\0\0\1\0\0\1\0\0\0\0\0\0" QUESTION), 512, 0 },
	{ "another_record_is_not_touched", WIRE(HEADER QUESTION "\0\0\52\4\320\0\0\0\0\0\0"), 512, 0 },
	{ "an_opt_with_an_owner_is_none", WIRE(HEADER QUESTION "\1a\0\0\51\4\320\0\0\0\0\0\0"), 512, 0 },
	{ "octets_behind_opt_are_not_touched", WIRE(HEADER QUESTION OPT "\0" "x"), 512, 0 },
	{ "a_cut_name_is_not_walked", WIRE(HEADER "\77abc"), 512, 0 },
	{ "a_cut_header_is_not_read", WIRE("\0\0\1\0\0\1"), 512, 0 },
};

static void check_pad(void **state)
{
	const struct pad_case *c = *state;
	uint8_t buf[512] = { 0 };
	struct dns_query q;
	size_t n;

	memcpy(buf, c->query, c->len);
	n = dns_query_pad(buf, c->len, c->room);
	assert_int_equal(n, c->to ? c->to : c->len);
	if (!c->to) {
		assert_memory_equal(buf, c->query, c->len);
		return;
	}
	assert_int_equal(dns_query_parse(buf, n, &q), DNS_NOERROR);
	assert_true(q.edns.present);
	assert_ptr_equal(q.edns.options + q.edns.options_len, buf + n);
	assert_memory_equal(buf + c->len, "\0\14", 2);
	assert_int_equal(buf[c->len + 2] << 8 | buf[c->len + 3], n - c->len - 4);
	for (size_t i = c->len + 4; i < n; i++)
		assert_int_equal(buf[i], 0);
}

/* Every length of a name comes out as one of three lengths. */
static void names_of_all_lengths_are_padded(void **state)
{
	uint8_t name[256], buf[512];
	struct dns_query q;

	for (unsigned len = 3; len <= 255; len++) {
		unsigned at = 0;
		int n;

		while (len - at > 1) {
			unsigned label = len - at - 2 < 63 ? len - at - 2 : 63;

			if (len - at - 2 - label == 1)
				label--;	/* one octet more is no label */
			name[at] = (uint8_t)label;
			memset(name + at + 1, 'x', label);
			at += 1 + label;
		}
		name[at] = 0;
		n = dns_query_write(0, name, (uint16_t)len, DNS_A, 0, true, buf, sizeof(buf));
		assert_true(n > 0);
		n = (int)dns_query_pad(buf, (size_t)n, sizeof(buf));
		assert_int_equal(n % DNS_PAD_BLOCK, 0);
		assert_in_range(n, 128, 384);
		assert_int_equal(dns_query_parse(buf, (size_t)n, &q), DNS_NOERROR);
	}
}

/* ---- answers ---- */

#define ANSWER "\0\0\201\200\0\1\0\2\0\0\0\1" QUESTION \
	"\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\1" "\300\14\0\1\0\1\0\0\0\5\0\4\300\0\2\2"
#define FIRST  (12 + 15 + 6)
#define SECOND (FIRST + 16)

static const struct age_case {
	const char *name;
	uint32_t age;
	uint8_t first, second;
} ages[] = {
	{ "no_time_changes_nothing", 0, 60, 5 },
	{ "time_is_taken_off_every_record", 4, 56, 1 },
	{ "none_falls_below_0", 10, 50, 0 },
	{ "ages_without_end_are_0", UINT32_MAX, 0, 0 },
};

static void check_age(void **state)
{
	static const uint8_t answer[] = ANSWER OPT "\0";
	const struct age_case *c = *state;
	uint8_t buf[sizeof(answer) - 1];

	memcpy(buf, answer, sizeof(buf));
	buf[sizeof(buf) - 3] = 77;	/* of OPT, whose TTL is none */
	assert_int_equal(dns_age(buf, sizeof(buf), c->age), 0);
	assert_int_equal(buf[FIRST + 3], c->first);
	assert_int_equal(buf[SECOND + 3], c->second);
	assert_int_equal(buf[sizeof(buf) - 3], 77);
	memcpy(buf + FIRST, answer + FIRST, 4);
	memcpy(buf + SECOND, answer + SECOND, 4);
	buf[sizeof(buf) - 3] = answer[sizeof(buf) - 3];
	assert_memory_equal(buf, answer, sizeof(buf));
}

static void a_cut_answer_is_told(void **state)
{
	uint8_t buf[] = ANSWER;

	assert_int_equal(dns_age(buf, sizeof(buf) - 5, 1), -EBADMSG);
}

int main(void)
{
	ROWS_ADD(pads, check_pad);
	rows_add("names_of_all_lengths_are_padded", names_of_all_lengths_are_padded, NULL);
	ROWS_ADD(ages, check_age);
	rows_add("a_cut_answer_is_told", a_cut_answer_is_told, NULL);
	return rows_run("dns/pad");
}
