/* SPDX-License-Identifier: BSD-2-Clause */
/* test_suffixes.c - names in zones, beside them and above them. */
#include <errno.h>
#include <string.h>
#include "dns/name.h"
#include "resolve/suffixes.h"
#include "unit/dns/rows.h"

static const char *const zones[] = { "corp.example", "10.in-addr.arpa", "B.corp.example", "x", "corp.example.net" };

static const struct cover_case {
	const char *name;
	const char *qname;
	bool want;
} cover_cases[] = {
	{ "the zone itself is covered", "corp.example", true },
	{ "a name below is covered", "www.corp.example", true },
	{ "a name far below is covered", "a.b.c.d.e.f.corp.example", true },
	{ "a zone written in capitals covers too", "a.b.corp.example", true },
	{ "the parent is not covered", "example", false },
	{ "a sibling is not covered", "dorp.example", false },
	{ "a longer last label is not covered", "xcorp.example", false },
	{ "a name that ends in the same octets is not covered", "corp.examplf", false },
	{ "another tree is not covered", "corp.example.org", false },
	{ "a zone of one label covers", "a.x", true },
	{ "the root is not covered", ".", false },
	{ "a reverse zone covers its addresses", "1.2.3.10.in-addr.arpa", true },
	{ "another reverse zone does not", "1.2.3.110.in-addr.arpa", false },
};

static bool covers(const struct suffixes *s, const char *text)
{
	uint8_t name[DNS_NAME_MAX];
	int len = dns_name_from_text(text, strlen(text), name);

	assert_true(len > 0);
	return suffixes_cover(s, name, (uint16_t)len);
}

static void run_cover(void **state)
{
	const struct cover_case *c = *state;
	struct suffixes *s = suffixes_new(sizeof(zones) / sizeof(zones[0]));
	unsigned i;

	assert_non_null(s);
	for (i = 0; i < sizeof(zones) / sizeof(zones[0]); i++)
		assert_int_equal(suffixes_add(s, zones[i]), 0);
	suffixes_ready(s);
	assert_int_equal(covers(s, c->qname), c->want);
	suffixes_free(s);
}

static void run_none(void **state)
{
	struct suffixes *s = suffixes_new(0);

	assert_false(covers(NULL, "a.example"));
	assert_false(covers(s, "a.example"));
	assert_int_equal(suffixes_add(s, "a.example"), -ENOSPC);
	suffixes_free(s);
	suffixes_free(NULL);
}

static void run_root(void **state)
{
	struct suffixes *s = suffixes_new(2);

	assert_int_equal(suffixes_add(s, "a..b"), -EINVAL);
	assert_int_equal(suffixes_add(s, "."), 0);
	suffixes_ready(s);
	assert_true(covers(s, "a.example"));
	assert_true(covers(s, "."));
	suffixes_free(s);
}

int main(void)
{
	ROWS_ADD(cover_cases, run_cover);
	rows_add("no zones cover nothing and take none", run_none, NULL);
	rows_add("the root covers all, and what is no name is refused", run_root, NULL);
	return rows_run("suffixes");
}
