/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl_compare.c - do two responses say the same?
 *
 * Every record becomes a line with its names whole and in lower case and the
 * rest of its data in the form of RFC 3597 section 5; sorted lines are then
 * compared like two sorted files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dns/msg.h"
#include "dns/name.h"
#include "dns/text.h"
#include "tools/millctl.h"

struct lines {
	char **at;
	size_t count;
};

/*
 * The names in the data of the types whose names may be compressed (RFC 3597
 * section 4): fixed octets before, names, the rest.
 */
static const struct {
	uint16_t type;
	uint8_t before;
	uint8_t names;
} shapes[] = {
	{ DNS_NS, 0, 1 }, { DNS_CNAME, 0, 1 }, { DNS_PTR, 0, 1 }, { DNS_DNAME, 0, 1 }, { DNS_MX, 2, 1 }, { DNS_SRV, 6, 1 },
	{ DNS_SOA, 0, 2 },
};

static void print_hex(FILE *f, const uint8_t *p, size_t size)
{
	size_t i;

	if (size)
		fprintf(f, " \\# %zu ", size);
	for (i = 0; i < size; i++)
		fprintf(f, "%02x", p[i]);
}

static int print_name(FILE *f, const uint8_t *name, size_t len)
{
	uint8_t lower[DNS_NAME_MAX + 1];
	char text[DNS_NAME_TEXT_MAX];

	dns_name_lower(lower, name, len);
	return fprintf(f, " %s", dns_name_text(lower, text, sizeof(text)));
}

static int print_data(FILE *f, const struct dns_response *r, const struct dns_rr *rr)
{
	size_t at = rr->rdata, end = rr->rdata + rr->rdata_len, next;
	uint8_t name[DNS_NAME_MAX + 1];
	unsigned i, n;
	int len;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && shapes[i].type != rr->type; i++)
		;
	if (i < sizeof(shapes) / sizeof(shapes[0]) && rr->rdata_len > shapes[i].before) {
		print_hex(f, r->msg + at, shapes[i].before);
		at += shapes[i].before;
		for (n = 0; n < shapes[i].names; n++) {
			len = dns_name_expand(r->msg, r->size, at, name, &next);
			if (len < 0 || next > end)
				return -EBADMSG;
			print_name(f, name, (size_t)len);
			at = next;
		}
	}
	print_hex(f, r->msg + at, end - at);
	return 0;
}

static int add_line(struct lines *l, char *line)
{
	char **more = realloc(l->at, (l->count + 1) * sizeof(*more));

	if (!more) {
		free(line);
		return -ENOMEM;
	}
	more[l->count++] = line;
	l->at = more;
	return 0;
}

static int add_record(struct lines *l, const struct dns_response *r, const struct dns_rr *rr)
{
	static const char *const section[] = { "answer", "authority", "additional" };
	char *line = NULL, type[32];
	size_t size;
	FILE *f = open_memstream(&line, &size);
	int err;

	if (!f)
		return -ENOMEM;
	fputs(section[rr->section], f);
	print_name(f, rr->owner, rr->owner_len);
	fprintf(f, " CLASS%u %s", rr->class, dns_type_text(rr->type, type, sizeof(type)));
	/* What is the TTL of others are flags of an OPT (RFC 6891 section 6.1.3). */
	if (rr->type == DNS_OPT)
		fprintf(f, " flags %08x", rr->ttl);
	err = print_data(f, r, rr);
	if (fclose(f) || !line)
		err = -ENOMEM;
	if (err) {
		free(line);
		return err;
	}
	return add_line(l, line);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_reply(struct lines *l, struct dns_response *r, const uint8_t *msg, size_t size)
{
	struct dns_rr rr;
	int got = dns_response_parse(msg, size, r);

	if (got < 0)
		return got;
	while ((got = dns_rr_next(r, &rr)) > 0) {
		got = add_record(l, r, &rr);
		if (got < 0)
			return got;
	}
	if (l->count)
		qsort(l->at, l->count, sizeof(*l->at), by_text);
	return got;
}

static int compare_heads(const struct dns_response *a, const struct dns_response *b, void (*differs)(const char *line))
{
	char line[128], left[32], right[32];
	int n = 0;

	if (DNS_RCODE(a->flags) != DNS_RCODE(b->flags)) {
		snprintf(line, sizeof(line), "the kernel says %s, the daemon %s",
			 dns_rcode_text(DNS_RCODE(a->flags), left, sizeof(left)),
			 dns_rcode_text(DNS_RCODE(b->flags), right, sizeof(right)));
		differs(line);
		n++;
	}
	if ((a->flags ^ b->flags) & ~0xfU) {
		snprintf(line, sizeof(line), "header flags: kernel 0x%04x, daemon 0x%04x", a->flags, b->flags);
		differs(line);
		n++;
	}
	if (a->has_question != b->has_question || a->qtype != b->qtype || a->qclass != b->qclass ||
	    (a->has_question && !dns_name_equal(a->qname, b->qname))) {
		differs("the questions differ");
		n++;
	}
	return n;
}

static int say_only(const char *who, const char *record, void (*differs)(const char *line))
{
	char line[400];

	snprintf(line, sizeof(line), "only the %s has: %s", who, record);
	differs(line);
	return 1;
}

static int compare_lines(const struct lines *a, const struct lines *b, void (*differs)(const char *line))
{
	size_t i = 0, j = 0;
	int n = 0, order;

	while (i < a->count || j < b->count) {
		order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->at[i], b->at[j]);
		if (order < 0)
			n += say_only("kernel", a->at[i++], differs);
		else if (order > 0)
			n += say_only("daemon", b->at[j++], differs);
		else {
			i++;
			j++;
		}
	}
	return n;
}

static void free_lines(struct lines *l)
{
	while (l->count)
		free(l->at[--l->count]);
	free(l->at);
}

int compare_replies(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, void (*differs)(const char *line))
{
	struct lines left = { 0 }, right = { 0 };
	struct dns_response x, y;
	int err;

	err = read_reply(&left, &x, a, a_size);
	if (err >= 0)
		err = read_reply(&right, &y, b, b_size);
	if (err >= 0)
		err = compare_heads(&x, &y, differs) + compare_lines(&left, &right, differs);
	free_lines(&left);
	free_lines(&right);
	return err;
}
