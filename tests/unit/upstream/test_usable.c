/* SPDX-License-Identifier: BSD-2-Clause */
/* test_usable.c - responses without an error that are answers, and some that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "upstream/transport.h"

#define FLAGS(high, low)         "\0\1" high low
#define QUESTION                 "\3www\7example\0\0\1\0\1"
#define RR(owner, type, size)    owner "\0" type "\0\1\0\0\1\54\0" size
#define A_RR                     RR("\xc0\x0c", "\1", "\4") "\300\0\2\1"
#define NS_RR                    RR("\0", "\2", "\4") "\1a\1b"	/* its name is cut: records are not read */
#define SOA_RR                   RR("\0", "\6", "\1") "\0"
#define ROW(name, bytes, says)   { name, (const uint8_t *)bytes, sizeof(bytes) - 1, says }

struct row {
	const char *name;
	const uint8_t *msg;
	size_t size;
	const char *says;	/* begins so; NULL: it is an answer */
};

static const struct row rows[] = {
	ROW("an_address_is_an_answer", FLAGS("\x81", "\x80") "\0\1\0\1\0\0\0\0" QUESTION A_RR, NULL),
	ROW("no_data_with_a_soa_is_an_answer", FLAGS("\x81", "\0") "\0\1\0\0\0\2\0\0" QUESTION SOA_RR NS_RR, NULL),
	ROW("no_data_without_anything_is_an_answer", FLAGS("\x81", "\0") "\0\1\0\0\0\0\0\0" QUESTION, NULL),
	ROW("a_referral_is_none", FLAGS("\x81", "\0") "\0\1\0\0\0\1\0\0" QUESTION NS_RR, "a referral"),
	ROW("servers_from_who_resolves_are_no_referral", FLAGS("\x81", "\x80") "\0\1\0\0\0\1\0\0" QUESTION NS_RR, NULL),
	ROW("servers_from_who_knows_the_zone_are_no_referral", FLAGS("\x85", "\0") "\0\1\0\0\0\1\0\0" QUESTION NS_RR, NULL),
	ROW("nxdomain_with_servers_is_an_answer", FLAGS("\x81", "\3") "\0\1\0\0\0\1\0\0" QUESTION NS_RR, NULL),
	ROW("records_that_are_not_there_make_none", FLAGS("\x81", "\x80") "\0\1\0\2\0\0\0\0" QUESTION A_RR,
	    "an answer whose records"),
	ROW("a_record_over_the_end_makes_none", FLAGS("\x81", "\x80") "\0\1\0\1\0\0\0\0" QUESTION RR("\xc0\x0c", "\1", "\5") "1234",
	    "an answer whose records"),
	ROW("a_question_over_the_end_makes_none", FLAGS("\x81", "\x80") "\0\1\0\0\0\0\0\0" "\3ww", "an answer that cannot be read"),
};

static void check(void **state)
{
	const struct row *row = *state;
	const char *said = upstream_unusable(row->msg, row->size);

	if (!row->says)
		assert_null(said);
	else
		assert_memory_equal(said, row->says, strlen(row->says));
}

int main(void)
{
	struct CMUnitTest tests[sizeof(rows) / sizeof(rows[0])];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check, NULL, NULL, (void *)&rows[i] };
	return cmocka_run_group_tests_name("usable", tests, NULL, NULL);
}
