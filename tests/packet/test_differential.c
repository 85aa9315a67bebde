/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_differential.c - what the kernel answers, the daemon answers alike.
 *
 * Both worlds get the same policy and the same cached answers, by the daemon's
 * own writers.  Then every combination of name, type, EDNS, flags, letter case
 * and address family is put to the program; each frame that it answers is put
 * to the steps of resolve/ too, and the two messages must be the same octets.
 * A row is a name, in each block mode where it is blocked, and in each of some
 * settings of a group: texts, a group of its own lists, pauses, withheld types.
 */
#include <errno.h>
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include "kern/answers.h"
#include "packet/run.h"
#include "scenario/world.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000ULL
#define BLOCK_SET 1
#define ALLOW_SET 2

/* ---- policy and cached answers, for both worlds ---- */

static const struct entry {
	const char *name;
	bool subtree, allow;
} entries[] = {
	{ "ads.example", false, false },   { "track.example", true, false }, { "good.track.example", false, true },
	{ "net", true, false },            { "free.net", true, true },       { "_dmarc.odd-name.example", false, false },
};

/* The last one of a name and type is the one that the daemon has. */
static const struct cached {
	const char *name;
	uint16_t qtype;
	uint8_t bits;
	uint64_t age_s;
	ldns_pkt_rcode rcode;
	const char *records[6];		/* "auth ..." in the authority section */
} answers[] = {
	{ "www.example", DNS_A, 0, 100, LDNS_RCODE_NOERROR, { "www.example. 300 IN A 192.0.2.7" } },
	{ "www.example", DNS_AAAA, 0, 0, LDNS_RCODE_NOERROR, { "www.example. 300 IN AAAA 2001:db8::7" } },
	{ "www.example", DNS_A, DNS_KEY_CD, 3, LDNS_RCODE_NOERROR, { "www.example. 300 IN A 192.0.2.8" } },
	{ "www.example", DNS_A, DNS_KEY_DO, 100, LDNS_RCODE_NOERROR,
	  { "www.example. 300 IN A 192.0.2.7",
	    "www.example. 300 IN RRSIG A 13 2 300 20300101000000 20200101000000 1 example. "
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==" } },
	{ "alias.example", DNS_A, 0, 19, LDNS_RCODE_NOERROR,
	  { "alias.example. 300 IN CNAME a.cdn.example.", "a.cdn.example. 20 IN A 192.0.2.9",
	    "a.cdn.example. 20 IN A 192.0.2.10" } },
	{ "example", DNS_MX, 0, 60, LDNS_RCODE_NOERROR,
	  { "example. 3600 IN MX 10 mail.example.", "example. 3600 IN MX 20 mail2.other.test." } },
	{ "text.example", DNS_TXT, 0, 1, LDNS_RCODE_NOERROR, { "text.example. 86400 IN TXT \"v=spf1 -all\"" } },
	{ "svc.example", DNS_HTTPS, 0, 2, LDNS_RCODE_NOERROR,
	  { "svc.example. 300 IN TYPE65 \\# 7 00010000010000" } },
	{ "no.example", DNS_A, 0, 10, LDNS_RCODE_NXDOMAIN,
	  { "auth example. 900 IN SOA ns.example. root.example. 1 7200 900 86400 60" } },
	{ "www.example", DNS_TXT, 0, 5, LDNS_RCODE_NOERROR,
	  { "auth example. 900 IN SOA ns.example. root.example. 1 7200 900 86400 60" } },
	{ "good.track.example", DNS_A, 0, 5, LDNS_RCODE_NOERROR, { "good.track.example. 30 IN A 192.0.2.11" } },
	{ ".", DNS_NS, 0, 1000, LDNS_RCODE_NOERROR,
	  { ". 518400 IN NS a.root-servers.net.", ". 518400 IN NS b.root-servers.net." } },
	{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.example", DNS_A, 0, 4, LDNS_RCODE_NOERROR,
	  { "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.example. 300 IN A 192.0.2.12" } },
};

/* The questions' names; every one is asked in every form below. */
static const struct subject {
	const char *name;
	bool blocked;			/* for the first group */
	bool allowed;			/* by the second list, which the second group does not use */
} subjects[] = {
	{ "ads.example", true },       { "x.ads.example", false },      { "track.example", true },
	{ "a.b.c.track.example", true }, { "good.track.example", false, true }, { "anything.net", true },
	{ "www.free.net", false, true }, { "_dmarc.odd-name.example", true }, { "www.example", false },
	{ "alias.example", false },    { "example", false },            { "text.example", false },
	{ "svc.example", false },      { "no.example", false },         { ".", false },
	{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.example", false },
};

#define FORTY "0123456789012345678901234567890123456789"

static const struct setting {
	const char *name;
	enum mr_block_mode mode;
	struct mr_outcome client;
	enum mr_block_ede ede;
	const char *text;		/* the first list's name; NULL: none */
	uint32_t paused;		/* of the client's group */
	uint16_t nodata[MR_GROUP_TYPES];
	bool all;			/* names that are not blocked as well */
} settings[] = {
	{ "null address", MR_BLOCK_NULL, .all = true },
	{ "nxdomain", MR_BLOCK_NXDOMAIN },
	{ "nodata", MR_BLOCK_NODATA },
	{ "refused", MR_BLOCK_REFUSED },
	{ "custom", MR_BLOCK_CUSTOM },
	{ "null address with a text", MR_BLOCK_NULL, .text = "starter" },
	{ "nxdomain with the longest text", MR_BLOCK_NXDOMAIN, .text = FORTY },
	{ "refused with a text that is cut", MR_BLOCK_REFUSED, .text = FORTY "0" },
	{ "custom with a text of one octet", MR_BLOCK_CUSTOM, .text = "x" },
	{ "null address with the code alone", MR_BLOCK_NULL, .ede = MR_BLOCK_EDE_CODE, .text = "starter" },
	{ "nodata with no EDE", MR_BLOCK_NODATA, .ede = MR_BLOCK_EDE_NONE, .text = "starter" },
	{ "nxdomain in the second group", MR_BLOCK_NXDOMAIN, .client = { .group = 1 }, .text = "starter", .all = true },
	{ "custom in the second group without a text", MR_BLOCK_CUSTOM, .client = { .group = 1 } },
	{ "nothing, the group is paused", MR_BLOCK_NULL, .text = "starter", .paused = 1, .all = true },
	{ "nothing, the client is paused", MR_BLOCK_NULL, .client = { .flags = MR_CLIENT_PAUSED }, .all = true },
	{ "null address, and A is withheld", MR_BLOCK_NULL, .nodata = { DNS_A }, .text = "starter", .all = true },
	{ "refused, and four types are withheld", MR_BLOCK_REFUSED, .client = { .group = 1 },
	  .nodata = { 65280, DNS_AAAA, DNS_HTTPS, DNS_TXT }, .all = true },
	{ "nothing, and AAAA is withheld", MR_BLOCK_NULL, .paused = 1, .nodata = { DNS_AAAA }, .all = true },
};

static const int types[] = { DNS_A, DNS_AAAA, DNS_HTTPS, DNS_MX, DNS_TXT, DNS_NS, DNS_SOA, DNS_DS, 65280 };
static const int flag_sets[] = { 0, 0x0120, 0x0110, 0x0130 };	/* RD; with AD; with CD; with both */

static const struct form {
	int edns, size, dnssec_ok;
	const char *options;
	int options_len;
} forms[] = {
	{ 0 }, { 1, 512, 0 }, { 1, 1232, 1 }, { 1, 4096, 0 }, { 1, ZERO, 0 },
	{ 1, 1232, 0, "\0\12\0\10abcdefgh", 12 }, { 1, 1232, 1, "\0\14\0\4\0\0\0\0", 8 },
};

/* ---- filling ---- */

struct both {
	struct fill fill;
	struct world *world;
	struct answers table;
	unsigned asked, answered, differ;
};

static int fill_filters(struct both *b)
{
	struct mr_name n;
	unsigned i;

	fill_verdict(&b->fill, 0, BLOCK_SET, MR_BLOCK, 0);
	fill_verdict(&b->fill, 0, ALLOW_SET, MR_ALLOW, 1);
	fill_verdict(&b->fill, 1, BLOCK_SET, MR_BLOCK, 0);
	for (i = 0; i < COUNT(entries); i++) {
		const struct entry *e = &entries[i];
		struct rule_item item = { .kind = RULE_NAME, .action = e->allow ? FILTER_ALLOW : FILTER_BLOCK,
					  .reach = e->subtree ? RULE_SUBTREE : RULE_EXACT, .name = n.text };

		if (fill_rule(&b->fill, e->name, e->allow ? ALLOW_SET : BLOCK_SET, e->subtree, FILL_FIRST) ||
		    fill_name(&b->fill, e->name, &n) ||
		    !(item.name_len = n.len) || world_rule(b->world, e->allow ? WORLD_ALLOWS : WORLD_BLOCKS, &item))
			return -1;
	}
	return 0;
}

static ldns_pkt *make_response(const struct cached *c)
{
	ldns_pkt *p = ldns_pkt_query_new(ldns_dname_new_frm_str(c->name), (ldns_rr_type)c->qtype, LDNS_RR_CLASS_IN,
					 LDNS_QR | LDNS_RD | LDNS_RA);
	ldns_rr *rr;
	unsigned i;

	ldns_pkt_set_rcode(p, c->rcode);
	for (i = 0; i < COUNT(c->records) && c->records[i]; i++) {
		bool auth = strncmp(c->records[i], "auth ", 5) == 0;

		if (ldns_rr_new_frm_str(&rr, c->records[i] + (auth ? 5 : 0), 0, NULL, NULL) != LDNS_STATUS_OK) {
			printf("# no record: %s\n", c->records[i]);
			ldns_pkt_free(p);
			return NULL;
		}
		ldns_pkt_push_rr(p, auth ? LDNS_SECTION_AUTHORITY : LDNS_SECTION_ANSWER, rr);
	}
	return p;
}

/* One answer, as from upstream, into the daemon's cache and the kernel's table. */
static int fill_cached(struct both *b, const struct cached *c)
{
	const struct dns_ttl_limits limits = { .max = 604800, .negative_max = 3600, .failure = 5 };
	struct dns_key key = { .qtype = c->qtype, .bits = c->bits & DNS_KEY_CD };
	uint64_t now = fill_now();
	struct dns_answer *a = NULL, *form = NULL;
	uint8_t *wire = NULL;
	ldns_pkt *p = make_response(c);
	size_t len;
	int err = -1;

	key.name_len = (uint16_t)fill_wire(c->name, key.name, sizeof(key.name));
	if (!p || ldns_pkt2wire(&wire, p, &len) != LDNS_STATUS_OK)
		goto out;
	err = dns_answer_from_response(wire, len, &key, &limits, now - c->age_s * SECOND, &a);
	if (err)
		goto out;
	/* the daemon's cache has one answer for all, the kernel one for each form */
	cache_put(b->world->resolver.cache, a, now);
	err = dns_answer_form(a, c->bits, &form);
	if (err)
		goto out;
	key.bits = c->bits;
	answers_put(&b->table, form, false, b->fill.conf->filter_generation, now);
	err = answers_hold(&b->table, &key, now) ? 0 : -1;
out:
	dns_answer_unref(form);
	dns_answer_unref(a);
	free(wire);
	ldns_pkt_free(p);
	return err;
}

static int fill_both(struct both *b)
{
	struct answers_maps maps = { .conf = b->fill.conf, .secret = b->fill.secret, .buckets = b->fill.buckets,
				     .pages = b->fill.answers, .filter = b->fill.filter, .bloom = b->fill.bloom };
	unsigned i;
	int err;

	fill_reset(&b->fill);
	fill_service(&b->fill, "192.0.2.53");
	fill_service(&b->fill, "2001:db8::53");
	b->fill.conf->recursion = 1;
	err = answers_init(&b->table, &maps, 1000, b->fill.size.answer_buckets, b->fill.size.pages, fill_now());
	if (!err)
		err = fill_filters(b);
	for (i = 0; i < COUNT(answers) && !err; i++) {
		err = fill_cached(b, &answers[i]);
		if (err)
			printf("# not taken by both: %s type %u\n", answers[i].name, answers[i].qtype);
	}
	return err;
}

/* The same settings of the client's group for both. */
static int set_group(struct both *b, const struct setting *s)
{
	struct world *w = b->world;
	struct mr_group *g = &w->group[s->client.group];
	struct config *c = w->config;

	memset(w->group, 0, sizeof(w->group));
	*g = (struct mr_group){ .block = { .mode = (uint8_t)s->mode, .ttl = 30, .ede = (uint8_t)s->ede }, .paused = s->paused };
	memcpy(&g->block.ipv4, "\300\0\2\143", 4);
	memcpy(g->block.ipv6, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x63", 16);
	memcpy(g->nodata, s->nodata, sizeof(g->nodata));
	c->filter_block_mode = (enum config_block_mode)s->mode;
	c->filter_block_ttl = 30;
	memcpy(c->filter_block_ipv4.ip + 12, &g->block.ipv4, 4);
	memcpy(c->filter_block_ipv6.ip, g->block.ipv6, 16);
	mr_ede_render(&w->ede[0], s->text ? s->text : "");
	w->anybody = s->client;
	memcpy(b->fill.ede, w->ede, sizeof(w->ede));
	memcpy(b->fill.conf->group, w->group, sizeof(w->group));
	b->fill.conf->client_default = s->client;
	return world_snapshot(w);
}

/* Whether the kernel must answer all questions for a name. */
static bool is_blocked(const struct subject *n, const struct setting *s)
{
	if (s->paused || s->client.flags)
		return false;
	return n->blocked || (s->client.group == 1 && n->allowed);
}

/* ---- comparing ---- */

static void say_octets(const char *who, const uint8_t *p, size_t len)
{
	size_t i;

	printf("# %s:", who);
	for (i = 0; i < len; i++)
		printf(" %02x", p[i]);
	printf("\n");
}

/* Put the frame to both.  Returns 1 when the kernel answered, 0 when it passed, -1 when they differ. */
static int compare(struct both *b, const struct frame *f, bool loud)
{
	struct world_client *c = world_client(b->world, "client", true);
	const struct addr from = { .ip = { [10] = 0xff, [11] = 0xff, [12] = 192, [14] = 2, [15] = 1 }, .port = 40000 };
	static __u8 out[FRAME_MAX];
	size_t len, dns = f->dns, size;

	if (run_frame(b->fill.fd, f->b, f->len, out, &len) != XDP_TX)
		return 0;
	size = (size_t)(out[f->udp + 4] << 8 | out[f->udp + 5]) - 8;
	b->world->now_ns = fill_now();
	world_ask(b->world, c, QUERY_UDP, f->b + dns, f->end - dns, &from);
	if (c->ended && c->reply_len == size && memcmp(out + dns, c->reply, size) == 0)
		return 1;
	if (loud) {
		say_octets("kernel", out + dns, size);
		say_octets("daemon", c->reply, c->ended ? c->reply_len : 0);
	}
	while (b->world->outs)
		world_answer(b->world, -ECANCELED, NULL, 0);
	return -1;
}

static void ask_once(struct both *b, const struct ask *a)
{
	static struct frame f;
	int i, outcome = -1;

	frame_ask(&f, a);
	/* A second may end between the two: their TTLs then differ by one, once. */
	for (i = 0; i < 3 && outcome < 0; i++)
		outcome = compare(b, &f, i == 2);
	b->asked++;
	b->answered += outcome > 0;
	b->differ += outcome < 0;
}

static void mix_case(const char *name, char *ret)
{
	for (; *name; name++, ret++)
		*ret = *name >= 'a' && *name <= 'z' && ((uintptr_t)name & 1) ? (char)(*name - 32) : *name;
	*ret = '\0';
}

static void ask_all(struct both *b, const char *name)
{
	unsigned t, g, m, mixed, ipv6;
	char text[256];

	b->asked = b->answered = b->differ = 0;
	mix_case(name, text);
	for (t = 0; t < COUNT(types); t++)
	for (g = 0; g < COUNT(flag_sets); g++)
	for (m = 0; m < COUNT(forms); m++)
	for (mixed = 0; mixed < 2; mixed++)
	for (ipv6 = 0; ipv6 < 2; ipv6++)
		ask_once(b, &(struct ask){ .name = mixed ? text : name, .qtype = types[t], .flags = flag_sets[g],
					   .edns = forms[m].edns, .size = forms[m].size,
					   .dnssec_ok = forms[m].dnssec_ok, .options = forms[m].options,
					   .options_len = forms[m].options_len, .ipv6 = (int)ipv6 });
}

/* A row: every form of one name; a blocked one is always answered in the kernel. */
static int row(struct both *b, unsigned number, const struct subject *n, const struct setting *s)
{
	bool good, blocked = is_blocked(n, s);

	ask_all(b, n->name);
	good = !b->differ && (!blocked || b->answered == b->asked);
	printf("%s %u - %s%s%s: %u of %u answered in the kernel, %u of them otherwise by the daemon\n",
	       good ? "ok" : "not ok", number, n->name, blocked ? " blocked by " : " where it would be ", s->name, b->answered,
	       b->asked, b->differ);
	return !good;
}

int main(void)
{
	static struct both b;
	unsigned number = 0, i, m, answered = 0;
	int failed = run_open(&b.fill);
	bool broken;

	if (failed || !b.fill.skel)
		return failed;
	b.world = world_new();
	broken = !b.world || fill_both(&b);
	for (m = 0; m < COUNT(settings) && !broken; m++) {
		broken = set_group(&b, &settings[m]) != 0;
		for (i = 0; i < COUNT(subjects) && !broken; i++) {
			if (!settings[m].all && !is_blocked(&subjects[i], &settings[m]))
				continue;
			failed += row(&b, ++number, &subjects[i], &settings[m]);
			answered += b.answered;
		}
	}
	failed += broken;
	printf("%s %u - %u frames were answered in the kernel, and by the daemon in the same octets\n",
	       failed || answered < 50000 ? "not ok" : "ok", ++number, answered);
	printf("1..%u\n", number);
	world_free(b.world);
	answers_done(&b.table);
	fill_close(&b.fill);
	return failed || answered < 50000;
}
