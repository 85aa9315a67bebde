/* SPDX-License-Identifier: BSD-2-Clause */
/* test_option.c - options found and added, and what a client's subnet must look like. */
#include <string.h>
#include "dns/msg.h"
#include "dns/option.h"
#include "dns/reply.h"
#include "unit/dns/rows.h"

#define DATA(s) (const uint8_t *)(s), sizeof(s) - 1

static const struct fine_case {
	const char *name;
	const uint8_t *data;
	size_t len;
	bool fine;
} fine_cases[] = {
	{ "IPv4 /24", DATA("\0\1\30\0\300\0\2"), true },
	{ "IPv4 /32", DATA("\0\1\40\0\300\0\2\1"), true },
	{ "IPv4 /0 asks for no subnet", DATA("\0\1\0\0"), true },
	{ "IPv4 /33", DATA("\0\1\41\0\300\0\2\1\0"), false },
	{ "IPv4 /20", DATA("\0\1\24\0\300\0\360"), true },
	{ "IPv4 /20 with a bit behind it", DATA("\0\1\24\0\300\0\370"), false },
	{ "IPv6 /56", DATA("\0\2\70\0\40\1\15\270\0\0\0"), true },
	{ "IPv6 /128", DATA("\0\2\200\0\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1"), true },
	{ "IPv6 /129", DATA("\0\2\201\0\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1\0"), false },
	{ "another family", DATA("\0\3\30\0\300\0\2"), false },
	{ "family 0", DATA("\0\0\0\0"), false },
	{ "a scope in a query", DATA("\0\1\30\30\300\0\2"), false },
	{ "an octet too few", DATA("\0\1\30\0\300\0"), false },
	{ "an octet too many", DATA("\0\1\30\0\300\0\2\0"), false },
	{ "a stump", DATA("\0\1\30"), false },
	{ "nothing", DATA(""), false },
};

static void run_fine(void **state)
{
	const struct fine_case *c = *state;

	assert_int_equal(dns_ecs_fine(c->data, c->len), c->fine);
}

static const struct find_case {
	const char *name;
	const uint8_t *options;
	size_t size;
	int len;			/* -1: none */
	int first;			/* octet of the data */
} find_cases[] = {
	{ "an option alone is found", DATA("\0\10\0\2ab"), 2, 'a' },
	{ "an option behind others is found", DATA("\0\12\0\1x\0\14\0\0\0\10\0\1b"), 1, 'b' },
	{ "the first of two counts", DATA("\0\10\0\1a\0\10\0\1b"), 1, 'a' },
	{ "an empty option is found", DATA("\0\10\0\0"), 0, -1 },
	{ "another option is not taken for it", DATA("\0\11\0\1a"), -1, -1 },
	{ "no options", DATA(""), -1, -1 },
	{ "an option that runs over the end is none", DATA("\0\10\0\3ab"), -1, -1 },
	{ "one behind such a one is none", DATA("\0\1\0\377\0\10\0\1b"), -1, -1 },
};

static void run_find(void **state)
{
	const struct find_case *c = *state;
	uint16_t len = 0;
	const uint8_t *p = dns_option_find(c->options, c->size, DNS_OPTION_ECS, &len);

	assert_int_equal(p ? len : -1, c->len);
	if (c->first >= 0)
		assert_int_equal(p[0], c->first);
}

static void run_add(void **state)
{
	static const uint8_t data[] = "\0\1\30\0\300\0\2";
	uint8_t msg[512];
	int n = dns_query_write(7, (const uint8_t *)"\3www\7example", 13, DNS_A, DNS_KEY_DO, true, msg, sizeof(msg));
	size_t opt = (size_t)n - 11, len;
	struct dns_query q;
	const uint8_t *p;
	uint16_t got;

	len = dns_option_add(msg, (size_t)n, sizeof(msg), opt, DNS_OPTION_ECS, data, 7);
	assert_int_equal(len, n + 11);
	assert_int_equal(dns_query_parse(msg, len, &q), DNS_NOERROR);
	p = dns_option_find(q.edns.options, q.edns.options_len, DNS_OPTION_ECS, &got);
	assert_non_null(p);
	assert_int_equal(got, 7);
	assert_memory_equal(p, data, 7);
	/* no room, no OPT, something behind it */
	assert_int_equal(dns_option_add(msg, len, len + 10, opt, DNS_OPTION_ECS, data, 7), len);
	assert_int_equal(dns_option_add(msg, len, sizeof(msg), 0, DNS_OPTION_ECS, data, 7), len);
	assert_int_equal(dns_option_add(msg, len - 1, sizeof(msg), opt, DNS_OPTION_ECS, data, 7), len - 1);
	/* a second one goes behind the first */
	assert_int_equal(dns_option_add(msg, len, sizeof(msg), opt, 12, data, 0), len + 4);
	assert_int_equal(dns_query_parse(msg, len + 4, &q), DNS_NOERROR);
	assert_int_equal(q.edns.options_len, 15);
}

static void run_answers(void **state)
{
	const uint8_t *asked = (const uint8_t *)"\0\1\30\0\300\0\2";

	assert_true(dns_ecs_answers((const uint8_t *)"\0\1\30\20\300\0\2", 7, asked, 7));
	assert_false(dns_ecs_answers((const uint8_t *)"\0\1\30\20\300\0\3", 7, asked, 7));
	assert_false(dns_ecs_answers((const uint8_t *)"\0\1\20\20\300\0\2", 7, asked, 7));
	assert_false(dns_ecs_answers((const uint8_t *)"\0\2\30\20\300\0\2", 7, asked, 7));
	assert_false(dns_ecs_answers((const uint8_t *)"\0\1\30\20\300\0", 6, asked, 7));
	assert_false(dns_ecs_answers((const uint8_t *)"", 0, asked, 0));
}

int main(void)
{
	ROWS_ADD(fine_cases, run_fine);
	ROWS_ADD(find_cases, run_find);
	rows_add("an option is added to a query's OPT, if it can be", run_add, NULL);
	rows_add("the scope alone may differ in what answers", run_answers, NULL);
	return rows_run("option");
}
