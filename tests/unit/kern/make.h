/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make.h - secrets, names, answers and filters for the tests of this folder.
 */
#ifndef TESTS_UNIT_KERN_MAKE_H
#define TESTS_UNIT_KERN_MAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dns/answer.h"
#include "dns/name.h"
#include "policy/filter.h"

/* A secret that is the same for the same number. */
struct mr_secret make_secret(unsigned number);

/* A key for text; the test fails when it is no name. */
struct dns_key make_key(const char *name, uint16_t qtype);

/* Answers of one reference: an A record; a TXT record of that many octets; NXDOMAIN with a SOA; a CNAME and an A. */
struct dns_answer *make_a(const char *name, uint32_t ttl, uint64_t now_ns);
struct dns_answer *make_txt(const char *name, unsigned octets, uint32_t ttl, uint64_t now_ns);
struct dns_answer *make_nxdomain(const char *name, uint32_t ttl, uint64_t now_ns);
struct dns_answer *make_cname(const char *name, const char *target, uint32_t ttl, uint64_t now_ns);
/* An HTTPS record in alias form. */
struct dns_answer *make_https(const char *name, const char *target, uint32_t ttl, uint64_t now_ns);
struct dns_answer *make_many(const char *name, unsigned records, uint32_t ttl, uint64_t now_ns);

/* A filter of @count names "<prefix><i>.example" that are blocked with all below, and "blocked.example". */
struct filter *make_filter(const struct mr_secret *s, unsigned count);

/* Verdicts for one group that uses its list. */
struct mr_verdict *make_verdicts(const struct filter *f);

/* What a view says of a name, for group 0. */
enum mr_verdict_kind judge(const struct filter_view *v, const struct mr_secret *s, const char *name);

/* Value of a counter of the room. */
uint64_t counted(const char *name);

#endif
