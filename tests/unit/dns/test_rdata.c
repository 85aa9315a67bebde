/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rdata.c - record data from presentation text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "dns/msg.h"
#include "dns/rdata.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define W(s) s, sizeof(s) - 1
#define ROOM 20

static const struct row {
	const char *name;
	uint16_t type;
	const char *text, *wire;
	size_t len;
	int err;
} rows[] = {
	{ "address", DNS_A, "192.0.2.1", W("\300\0\2\1"), 0 },
	{ "service authority", 257, "0 issue \"ca\"", W("\0\5issueca"), 0 },
	{ "name", DNS_DNAME, "a.example.", W("\1a\7example\0"), 0 },
	{ "type without a name", 65280, "\\# 2 00ff", W("\0\377"), 0 },
	{ "bad address", DNS_A, "192.0.2", W(""), -EINVAL },
	{ "no data", DNS_MX, "", W(""), -EINVAL },
	{ "half the data", DNS_MX, "10", W(""), -EINVAL },
	{ "two lines", DNS_A, "192.0.2.1\n", W(""), -EINVAL },
	{ "more than there is room for", DNS_TXT, "\"0123456789012345678901\"", W(""), -EINVAL },
};

static void text_is_data_or_not(void **state)
{
	const struct row *t = *state;
	uint8_t wire[ROOM];
	uint16_t len = 0;

	assert_int_equal(dns_rdata_from_text(t->type, t->text, strlen(t->text), wire, sizeof(wire), &len), t->err);
	assert_int_equal(len, t->len);
	assert_memory_equal(wire, t->wire, t->len);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(rows)];
	size_t i;

	for (i = 0; i < COUNT_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, text_is_data_or_not, NULL, NULL, (void *)&rows[i] };
	return cmocka_run_group_tests_name("rdata", tests, NULL, NULL);
}
