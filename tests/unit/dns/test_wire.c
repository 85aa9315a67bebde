/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_wire.c - packets that others collected (../shared/data/wire), put
 * through every reader of messages; and what other servers made of them.
 *
 * Skipped where that folder is absent.
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "dns/answer.h"
#include "dns/name.h"
#include "dns/reply.h"
#include "dns/wire.h"
#include "unit/dns/make.h"
#include "unit/dns/rows.h"

#define DATA    "../shared/data/wire/"
#define PACKETS DATA "dns-fuzzing-packets.tar.gz"
#define FACTS   "../shared/data/suites/derived/wire-outcomes.tsv"
#define NOW     (1000 * CLOCK_S)

static char folder[256];		/* the packets, unpacked */
static unsigned packets, queries, responses, answers;

/* The whole file in memory of its very size, so that a sanitizer sees the first octet read past it. */
static uint8_t *file_read(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *buf = NULL;
	long size = -1;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END))
		size = ftell(f);
	rewind(f);
	if (size >= 0 && size <= 65535) {
		buf = malloc((size_t)size + !size);
		if (buf && fread(buf, 1, (size_t)size, f) != (size_t)size)
			abort();
		*ret_size = (size_t)size;
	}
	fclose(f);
	return buf;
}

/* A response as an answer to its own question, given to a client and read again. */
static void answer_once(const uint8_t *msg, size_t size, const struct dns_response *r)
{
	static const struct dns_ttl_limits limits = { .max = 86400, .negative_max = 3600, .failure = 5 };
	static const struct dns_reply_limits stream = { .recursion = true, .stream = true };
	static uint8_t out[65535];
	struct dns_key key = { .name_len = r->qname_len, .qtype = r->qtype, .bits = DNS_KEY_DO };
	struct dns_query q = { .qname = r->qname, .qname_len = r->qname_len,
		.question_len = (uint16_t)(r->qname_len + 4),
			       .edns = { .present = true, .dnssec_ok = true, .size = 512 } };
	uint8_t question[DNS_NAME_MAX + 4];
	struct dns_answer *a;
	struct dns_response again;
	struct dns_rr rr;
	int len;

	dns_name_lower(key.name, r->qname, r->qname_len);
	memcpy(question, r->qname, r->qname_len);
	dns_put16(question + r->qname_len, r->qtype);
	dns_put16(question + r->qname_len + 2, DNS_IN);
	q.qname = question;
	if (dns_answer_from_response(msg, size, &key, &limits, NOW, &a))
		return;
	answers++;
	len = dns_reply_answer(&q, a, &stream, NOW, out, sizeof(out));
	assert_true(len > 0);
	assert_int_equal(dns_response_parse(out, (size_t)len, &again), 0);
	while ((len = dns_rr_next(&again, &rr)) > 0)
		;
	assert_int_equal(len, 0);
	dns_answer_unref(a);
}

static int packet_try(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct dns_query q;
	struct dns_response r;
	struct dns_rr rr;
	uint8_t *msg;
	size_t size;

	msg = type == FTW_F ? file_read(path, &size) : NULL;
	if (!msg)
		return 0;
	packets++;
	if (!dns_query_parse(msg, size, &q))
		queries++;
	/* many of the collection are queries: read as responses too, they reach the records */
	if (size > 2)
		msg[2] |= 0x80;
	if (!dns_response_parse(msg, size, &r)) {
		while (dns_rr_next(&r, &rr) > 0)
			;
		responses++;
		if (r.has_question && !dns_response_parse(msg, size, &r))
			answer_once(msg, size, &r);
	}
	free(msg);
	return 0;
}

static bool unpack(void)
{
	char command[600];

	if (access(PACKETS, R_OK))
		return false;
	snprintf(folder, sizeof(folder), "%s/millrace-wire-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
	if (!mkdtemp(folder))
		abort();
	snprintf(command, sizeof(command), "tar xzf " PACKETS " -C '%s'", folder);
	if (system(command))
		abort();
	return true;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void every_packet_is_read_or_refused(void **state)
{
	if (!*folder) {
		print_message("# note: " DATA " is absent\n");
		skip();
	}
	assert_int_equal(nftw(folder, packet_try, 16, FTW_PHYS), 0);
	assert_int_equal(nftw(DATA "bind9", packet_try, 16, FTW_PHYS), 0);
	print_message("# note: %u packets: %u good queries, %u read as responses, %u made answers\n", packets, queries,
		      responses, answers);
	assert_true(packets > 5000 && queries > 1000 && responses > 1000 && answers > 500);
}

struct fact {
	char file[256], opcode[16], python[64], nsd[16], knot[16], named[16];
};

/* What we should say: -1 where servers differ or we differ by design. */
static int expected(const struct fact *f)
{
	bool fine = (!strcmp(f->knot, "rcode0") || !strcmp(f->knot, "rcode3")) &&
		    (!strcmp(f->named, "rcode0") || !strcmp(f->named, "rcode3"));

	if (strcmp(f->opcode, "0"))
		return DNS_NOTIMP;
	if (!strcmp(f->python, "ok") && fine)
		return DNS_NOERROR;
	if (!strcmp(f->python, "UnknownTSIGKey") || !strcmp(f->knot, "rcode1"))
		return DNS_FORMERR;
	return -1;
}

static void queries_are_judged_as_other_servers_judge_them(void **state)
{
	FILE *facts = fopen(FACTS, "r");
	unsigned held = 0, wrong = 0;
	char line[700], path[900];
	struct dns_query q;
	struct fact f;

	if (!facts || !*folder) {
		print_message("# note: " FACTS " is absent\n");
		skip();
	}
	while (fgets(line, sizeof(line), facts)) {
		size_t size;
		uint8_t *msg;
		int want, got;

		if (sscanf(line, "%255[^\t]\t%*s\t%15[^\t]\t%63[^\t]\t%15[^\t]\t%15[^\t]\t%15[^\t]", f.file, f.opcode,
			f.python, f.nsd,
			   f.knot, f.named) != 6)
			continue;
		want = expected(&f);
		if (!strncmp(f.file, "dns-fuzzing/", 12))
			snprintf(path, sizeof(path), "%s/%s", folder, f.file + 12);
		else
			snprintf(path, sizeof(path), DATA "%s", f.file);
		msg = want < 0 ? NULL : file_read(path, &size);
		if (!msg)
			continue;
		got = dns_query_parse(msg, size, &q);
		free(msg);
		held++;
		/* the facts are of headers, where BADVERS shows as 0 */
		if (got < 0 || (got & 15) != want) {
			wrong++;
			print_message("# %s: %d, expected %d\n", f.file, got, want);
		}
	}
	fclose(facts);
	print_message("# note: %u queries held against what NSD, Knot and BIND said\n", held);
	assert_true(held > 1000);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	int failed;

	unpack();
	rows_add("every collected packet is read or refused", every_packet_is_read_or_refused, NULL);
	rows_add("queries are judged as other servers judge them", queries_are_judged_as_other_servers_judge_them,
		NULL);
	failed = rows_run("dns/wire");
	if (*folder)
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return failed;
}
