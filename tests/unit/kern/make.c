/* SPDX-License-Identifier: BSD-2-Clause */
/* make.c - the makers of make.h. */
#include "unit/kern/make.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/count.h"
#include "policy/filter_build.h"
#include "policy/judge.h"

struct mr_secret make_secret(unsigned number)
{
	struct mr_secret s;
	uint64_t x = number * 0x9e3779b97f4a7c15ULL + 1, i;

	for (i = 0; i < sizeof(s) / 4; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		((uint32_t *)&s)[i] = x >> 16;
	}
	return s;
}

struct dns_key make_key(const char *name, uint16_t qtype)
{
	struct dns_key k = { .qtype = qtype };
	int len = dns_name_from_text(name, strlen(name), k.name);

	assert_true(len > 0);
	k.name_len = len;
	dns_name_lower(k.name, k.name, len);
	return k;
}

static uint8_t *put(uint8_t *p, const void *from, size_t len)
{
	memcpy(p, from, len);
	return p + len;
}

static uint8_t *put16(uint8_t *p, unsigned v)
{
	*p++ = v >> 8;
	*p++ = v;
	return p;
}

/* Owner at offset 12, class IN. */
static uint8_t *put_head(uint8_t *p, uint16_t type, uint32_t ttl, unsigned rdlen)
{
	p = put16(put16(put16(p, 0xc00c), type), DNS_IN);
	p = put16(put16(p, ttl >> 16), ttl & 0xffff);
	return put16(p, rdlen);
}

static uint8_t *put_a(uint8_t *p, uint32_t ttl, uint8_t last)
{
	const uint8_t ip[4] = { 192, 0, 2, last };

	return put(put_head(p, DNS_A, ttl, 4), ip, 4);
}

static struct dns_answer *finish(const struct dns_key *k, uint16_t rcode, const uint8_t *body, const uint8_t *end,
				 unsigned answers, unsigned authorities, uint64_t now_ns)
{
	struct dns_answer *a = NULL;

	assert_int_equal(dns_answer_from_body(k, rcode, body, end - body, answers, authorities, now_ns, &a), 0);
	return a;
}

struct dns_answer *make_many(const char *name, unsigned records, uint32_t ttl, uint64_t now_ns)
{
	struct dns_key k = make_key(name, DNS_A);
	uint8_t body[1024], *p = body;
	unsigned i;

	for (i = 0; i < records; i++)
		p = put_a(p, ttl, i + 1);
	return finish(&k, DNS_NOERROR, body, p, records, 0, now_ns);
}

struct dns_answer *make_a(const char *name, uint32_t ttl, uint64_t now_ns)
{
	return make_many(name, 1, ttl, now_ns);
}

struct dns_answer *make_txt(const char *name, unsigned octets, uint32_t ttl, uint64_t now_ns)
{
	struct dns_key k = make_key(name, DNS_TXT);
	uint8_t body[2048] = { 0 }, *p;
	unsigned left = octets, n;

	p = put_head(body, DNS_TXT, ttl, octets);
	while (left) {
		n = left > 256 ? 256 : left;
		*p = n - 1;
		memset(p + 1, 'x', n - 1);
		p += n;
		left -= n;
	}
	return finish(&k, DNS_NOERROR, body, p, 1, 0, now_ns);
}

struct dns_answer *make_nxdomain(const char *name, uint32_t ttl, uint64_t now_ns)
{
	struct dns_key k = make_key(name, DNS_A);
	uint8_t body[64] = { 0 }, *p = put_head(body, DNS_SOA, ttl, 22);

	return finish(&k, DNS_NXDOMAIN, body, p + 22, 0, 1, now_ns);
}

struct dns_answer *make_cname(const char *name, const char *target, uint32_t ttl, uint64_t now_ns)
{
	struct dns_key k = make_key(name, DNS_A), t = make_key(target, DNS_A);
	const uint8_t ip[4] = { 192, 0, 2, 1 };
	uint8_t body[1024], *p;

	p = put(put_head(body, DNS_CNAME, ttl, t.name_len), t.name, t.name_len);
	p = put(p, t.name, t.name_len);
	p = put16(put16(put16(put16(put16(p, DNS_A), DNS_IN), ttl >> 16), ttl & 0xffff), 4);
	return finish(&k, DNS_NOERROR, body, put(p, ip, 4), 2, 0, now_ns);
}

struct dns_answer *make_https(const char *name, const char *target, uint32_t ttl, uint64_t now_ns)
{
	struct dns_key k = make_key(name, DNS_HTTPS), t = make_key(target, DNS_A);
	uint8_t body[512], *p = put_head(body, DNS_HTTPS, ttl, 2U + t.name_len);

	return finish(&k, DNS_NOERROR, body, put(put16(p, 0), t.name, t.name_len), 1, 0, now_ns);
}

struct filter *make_filter(const struct mr_secret *s, unsigned count)
{
	struct filter_builder *b = filter_builder_new(s);
	char path[] = "/tmp/kern-filter-XXXXXX", name[64];
	struct filter *f = NULL;
	struct err_at e = { 0 };
	struct dns_key k;
	uint64_t asked;
	unsigned i;
	int fd = mkstemp(path);

	assert_non_null(b);
	assert_true(fd >= 0);
	close(fd);
	for (i = 0; i <= count; i++) {
		snprintf(name, sizeof(name), "n%u.example", i);
		k = make_key(i ? name : "blocked.example", DNS_A);
		assert_int_equal(filter_builder_put(b, k.name, k.name_len, RULE_SUBTREE, 0, FILTER_BLOCK), 0);
	}
	assert_int_equal(filter_write(b, 0, path, &asked, &e), 0);
	filter_builder_free(b);
	assert_int_equal(filter_open(path, s, &f, &e), 0);
	unlink(path);
	return f;
}

struct mr_verdict *make_verdicts(const struct filter *f)
{
	static _Atomic uint8_t uses = 1;
	const struct judge_group g = { &uses, 1 };
	struct filter_members *members = filter_members_copy(f);
	struct rules_builder *b = rules_builder_new();
	struct judge j = { .members = members, .group = &g, .groups = 1, .rewrites = UINT_MAX, .safe_search = UINT_MAX };
	struct rules *none = NULL;
	struct mr_verdict *v;

	assert_non_null(members);
	assert_non_null(b);
	assert_int_equal(rules_builder_make(b, &none), 0);
	j.rules = none;
	v = judge_verdicts(&j);
	rules_free(none);
	rules_builder_free(b);
	filter_members_free(members);
	return v;
}

enum mr_verdict_kind judge(const struct filter_view *v, const struct mr_secret *s, const char *name)
{
	struct dns_key k = make_key(name, DNS_A);
	struct mr_name n = { .len = k.name_len };
	struct filter_result r;

	memcpy(n.text, k.name, k.name_len);
	assert_int_equal(mr_name_hash(&n, s), 0);
	filter_find(v, &n, 0, &r);
	return r.kind;
}

struct search {
	const char *name;
	uint64_t value;
};

static void look(const struct count_row *row, uint64_t value, void *arg)
{
	struct search *s = arg;

	if (!strcmp(row->name, s->name))
		s->value = value;
}

uint64_t counted(const char *name)
{
	struct search s = { name, 0 };

	count_each(look, &s);
	return s.value;
}
