/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_reply.c - the pure headers of the packet path as ordinary code: sums,
 * the tail's records, and how a frame gets its new size where room is short.
 */
#include <ctype.h>
#include <arpa/inet.h>
#include "bpf/name.h"
#include "bpf/reply.h"
#include "unit/maps/rows.h"

#define HEAD_MAX 300
#define TAIL_MAX 1500

static const __u8 query[] = {
	2, 0, 0, 0, 0, 0x53, 2, 0, 0, 0, 0, 1, 8, 0,
	0x45, 0, 0, 55, 0x12, 0x34, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 53,
	0x9c, 0x40, 0, 53, 0, 35, 0, 0,
	0xbe, 0xef, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0,
	1, 'X', 7, 'e', 'x', 'A', 'm', 'p', 'l', 'e', 0, 0, 1, 0, 1,
};

/* A frame with room around it. */
struct room {
	struct world_frame f;
	__u8 memory[HEAD_MAX + sizeof(query) + TAIL_MAX];
	struct mr_conf conf;
	struct mr_secret secret;
	struct mr_name name;
	struct packet packet;
	struct query query;
	struct reply reply;
};

static void room_init(struct room *r, int head, int tail)
{
	memset(r, 0, sizeof(*r));
	r->f.data = r->memory + HEAD_MAX;
	memcpy(r->f.data, query, sizeof(query));
	r->f.end = r->f.data + sizeof(query);
	r->f.first = r->f.data - head;
	r->f.last = r->f.end + tail;
	row_secret(&r->secret);
	r->conf.port = 53;
	r->conf.services = 1;
	r->conf.iface[0].ifindex = 3;
	memcpy(r->conf.iface[0].mac, query, 6);
	r->conf.service[0].addr[2] = htonl(0xffff);
	memcpy(&r->conf.service[0].addr[3], query + 30, 4);
}

/* The stages before the reply, as in fastpath.bpf.c. */
static enum mr_stat room_parse(struct room *r)
{
	enum mr_stat stat = packet_parse(&r->f, &r->conf, 3, 0, &r->packet);
	struct cursor c;
	__u32 dns;

	if (stat)
		return stat;
	dns = r->packet.udp + sizeof(struct udphdr);
	c = cursor_at(&r->f, dns);
	stat = query_header(&c, r->packet.dns_len, &r->query);
	if (!stat)
		stat = name_take(&r->f, dns, r->packet.dns_len, &r->secret, 0, &r->name, &r->query);
	return stat ? stat : query_tail(&r->f, dns, r->packet.dns_len, r->name.len, 0, &r->query);
}

struct grow_case {
	const char *name;
	int head;
	int tail;
	int len;			/* of the reply's tail, which is what the frame grows by */
	enum reply_growth grown;
};

static const struct grow_case grows[] = {
	{ "room: an empty tail needs none", 0, 0, 0, REPLY_FITS },
	{ "room: by the tail", 0, 16, 16, REPLY_GROWN_TAIL },
	{ "room: by the tail though the head has room", 216, 16, 16, REPLY_GROWN_TAIL },
	{ "room: tail one short, by the head", 216, 15, 16, REPLY_GROWN_HEAD },
	{ "room: by the head alone, 1", 216, 0, 1, REPLY_GROWN_HEAD },
	{ "room: by the head alone, 7", 216, 0, 7, REPLY_GROWN_HEAD },
	{ "room: by the head alone, all of it", 216, 0, 216, REPLY_GROWN_HEAD },
	{ "room: head and tail together", 216, 40, 256, REPLY_GROWN_HEAD },
	{ "room: more of the head than 216 is not asked for", 300, 0, 217, REPLY_NO_ROOM },
	{ "room: head and tail, one short", 216, 39, 256, REPLY_NO_ROOM },
	{ "room: a head that is too small", 15, 0, 16, REPLY_NO_ROOM },
	{ "room: none at all", 0, 0, 16, REPLY_NO_ROOM },
	{ "room: the largest message by the tail", 0, 1205, 1205, REPLY_GROWN_TAIL },
	{ "room: the largest message by head and tail", 216, 989, 1205, REPLY_GROWN_HEAD },
};

static void grow_row(void **state)
{
	const struct grow_case *c = *state;
	struct room *r = calloc(1, sizeof(*r));
	__u8 *out;
	int i;

	assert_non_null(r);
	room_init(r, c->head, c->tail);
	assert_int_equal(room_parse(r), PACKET_GO_ON);
	for (i = 0; i < c->len; i++)
		r->reply.tail[i] = (__u8)(i + 1);
	r->reply.len = (__u32)c->len;
	assert_int_equal(reply_send(&r->f, &r->packet, &r->query, &r->reply), c->grown);
	out = r->f.data;
	if (c->grown == REPLY_NO_ROOM) {
		assert_ptr_equal(out, r->memory + HEAD_MAX);
		assert_int_equal(r->f.end - out, sizeof(query));
		assert_memory_equal(out, query, sizeof(query));
	} else {
		assert_int_equal(r->f.end - out, sizeof(query) + c->len);
		assert_memory_equal(out + 54, query + 54, sizeof(query) - 54);
		assert_memory_equal(out, query + 6, 6);
		assert_memory_equal(out + 26, query + 30, 4);
		assert_memory_equal(out + 42, query + 42, 2);
		for (i = 0; i < c->len; i++)
			assert_int_equal(out[sizeof(query) + i], (__u8)(i + 1));
	}
	free(r);
}

static void a_padded_frame_is_cut(void **state)
{
	struct room r;

	room_init(&r, 0, 0);
	r.f.end += 50;
	r.f.last += 50;
	assert_int_equal(room_parse(&r), PACKET_GO_ON);
	r.reply.len = 16;
	assert_int_equal(reply_send(&r.f, &r.packet, &r.query, &r.reply), REPLY_FITS);
	assert_int_equal(r.f.end - r.f.data, sizeof(query) + 16);
}

/* ---- records ------------------------------------------------------------- */

static void records_are_those_of_block_h(void **state)
{
	static const __be32 six[4] = { 0x11111111, 0x22222222, 0x33333333, 0x44444444 };
	struct mr_rr_head head = { htons(MR_OWNER_QUESTION), 0, htons(1), htonl(0x01020304), 0 };
	struct mr_rr_soa soa = { head, 0, 0, htonl(MR_SOA_SERIAL), htonl(MR_SOA_REFRESH), htonl(MR_SOA_RETRY),
				 htonl(MR_SOA_EXPIRE), htonl(0x01020304) };
	struct mr_rr_aaaa aaaa = { head, { six[0], six[1], six[2], six[3] } };
	struct mr_rr_a a = { head, 0x55667788 };
	static struct reply r;

	a.head.type = htons(1);
	a.head.rdlen = htons(4);
	reply_init(&r);
	reply_a(&r, htonl(0x01020304), 0x55667788);
	assert_int_equal(r.len, sizeof(a));
	assert_memory_equal(r.tail, &a, sizeof(a));
	aaaa.head.type = htons(28);
	aaaa.head.rdlen = htons(16);
	reply_init(&r);
	reply_aaaa(&r, htonl(0x01020304), six);
	assert_int_equal(r.len, sizeof(aaaa));
	assert_memory_equal(r.tail, &aaaa, sizeof(aaaa));
	soa.head.type = htons(6);
	soa.head.rdlen = htons(22);
	reply_init(&r);
	reply_soa(&r, htonl(0x01020304));
	assert_int_equal(r.len, sizeof(soa));
	assert_memory_equal(r.tail, &soa, sizeof(soa));
	assert_int_equal(mr_sum_high(r.sum), mr_body_sum(r.tail, r.len));
}

static void the_opt_is_that_of_block_h_at_any_offset(void **state)
{
	struct mr_opt opt = { 0, htons(41), htons(MR_EDNS_SIZE), 0, 0, htons(0x8000), htons(sizeof(struct mr_opt_ede)) };
	struct mr_opt_ede ede = { htons(15), htons(2), htons(MR_EDE_BLOCKED) };
	static struct reply r;
	unsigned int at;

	for (at = 0; at < 9; at++) {
		memset(&r, 0, sizeof(r));
		r.len = at;
		reply_opt(&r, 1, MR_EDE_BLOCKED);
		assert_int_equal(r.len, at + sizeof(opt) + sizeof(ede));
		assert_memory_equal(r.tail + at, &opt, sizeof(opt));
		assert_memory_equal(r.tail + at + sizeof(opt), &ede, sizeof(ede));
		assert_int_equal(mr_sum_high(r.sum), mr_body_sum(r.tail, r.len));
	}
}

/* The words of a text land behind the first eight octets of the OPT, whatever the offset, and with their sum. */
static void the_opt_has_its_text_at_any_offset(void **state)
{
	static const char *const names[] = { "x", "ads", "starter", "0123456789", "0123456789012345678901234567890123456789" };
	static struct reply r;
	unsigned int at, i, len;
	struct mr_ede text;
	__u8 want[64];

	for (i = 0; i < COUNT(names); i++)
		for (at = 0; at < 9; at++) {
			len = (unsigned int)strlen(names[i]);
			memset(&r, 0, sizeof(r));
			memset(r.tail, 0xee, sizeof(r.tail));
			memset(r.tail, 0x11, at);
			r.sum = at ? mr_load64(r.tail) & ~0ULL >> (at < 8 ? 64 - 8 * at : 0) : 0;
			r.sum += at > 8 ? r.tail[8] : 0;
			r.len = at;
			mr_ede_render(&text, names[i]);
			reply_opt_text(&r, 1, &text);
			memcpy(want, "\0\0\x29\x04\xd0\0\0\x80\0\0\0\0\x0f\0\0\0\x0f", 17);
			want[10] = (__u8)(6 + len);
			want[14] = (__u8)(2 + len);
			memcpy(want + 17, names[i], len);
			assert_int_equal(r.len, at + 17 + len);
			assert_memory_equal(r.tail + at, want, 17 + len);
			for (len = 0; len < at; len++)
				assert_int_equal(r.tail[len], 0x11);
			assert_int_equal(mr_sum_high(r.sum) % 65535, mr_body_sum(r.tail, r.len) % 65535);
		}
}

/* A frame that has room for the answer but not for the text goes without it; with less room it does not go. */
static void a_text_is_left_out_before_the_answer_is(void **state)
{
	static const struct {
		int tail;
		int text;
		enum reply_growth grown;
	} rooms[] = {
		{ 24, 1, REPLY_GROWN_TAIL }, { 23, 0, REPLY_GROWN_TAIL }, { 17, 0, REPLY_GROWN_TAIL }, { 16, 0, REPLY_NO_ROOM },
	};
	__u32 mark;
	struct mr_ede text;
	struct room *r;
	size_t i;
	__u8 *out;

	mr_ede_render(&text, "starter");
	for (i = 0; i < COUNT(rooms); i++) {
		r = calloc(1, sizeof(*r));
		assert_non_null(r);
		room_init(r, 0, rooms[i].tail);
		assert_int_equal(room_parse(r), PACKET_GO_ON);
		r->query.edns = 1;
		r->query.dnssec_ok = 1;
		reply_init(&r->reply);
		r->reply.flags = 5;
		reply_opt_blocked(&r->reply, MR_BLOCK_EDE_TEXT, &r->query, &text);
		assert_int_equal(reply_send(&r->f, &r->packet, &r->query, &r->reply), rooms[i].grown);
		out = r->f.data;
		mark = rooms[i].grown == REPLY_NO_ROOM ? 0 : rooms[i].text ? 24 : 17;
		assert_int_equal(r->f.end - out, sizeof(query) + mark);
		if (!mark) {
			assert_memory_equal(out, query, sizeof(query));
		} else {
			assert_memory_equal(out + sizeof(query), "\0\0\x29\x04\xd0\0\0\x80\0\0", 10);
			assert_int_equal(out[sizeof(query) + 10], mark - 11);
			assert_int_equal(out[sizeof(query) + 14], mark - 15);
			if (rooms[i].text)
				assert_memory_equal(out + sizeof(query) + 17, "starter", 7);
		}
		free(r);
	}
}

/* ---- sums ---------------------------------------------------------------- */

static void a_computed_zero_is_sent_as_ffff(void **state)
{
	assert_int_equal(csum_udp_field(0xffff), 0xffff);
	assert_int_equal(csum_udp_field(2 * 0xffffULL), 0xffff);
	assert_int_equal(csum_field(0xffff), 0);
	assert_int_equal(csum_udp_field(0xfffe), 1);
}

static void replacing_a_field_is_summing_anew(void **state)
{
	static const __u32 values[] = { 0, 1, 0xffff, 0x10000, 0x12345678, 0xffffffff };
	__u8 body[16];
	__u64 sum, more;
	size_t i, j;
	unsigned int at;

	for (at = 0; at <= 12; at++)
		for (i = 0; i < COUNT(values); i++)
			for (j = 0; j < COUNT(values); j++) {
				memset(body, 0x3c, sizeof(body));
				memcpy(body + at, &values[i], 4);
				sum = mr_sum_add(mr_sum_add(0, mr_load64(body)), mr_load64(body + 8));
				memcpy(body + at, &values[j], 4);
				more = mr_sum_add(mr_sum_add(0, mr_load64(body)), mr_load64(body + 8));
				sum = csum_replace(sum, values[i], values[j], at);
				assert_int_equal(mr_sum_fold(sum) % 65535, mr_sum_fold(more) % 65535);
			}
}

/* To the frame's last octet and none before the name; lower-cased, but summed in its own letters. */
static void a_name_is_taken_to_the_last_octet(void **state)
{
	__u8 frame[300], want[264];
	struct world_frame f = { frame, frame + sizeof(frame), frame, frame + sizeof(frame) };
	static struct mr_secret secret;
	struct mr_name n;
	unsigned int len, words, i;
	struct query q;
	__u64 plain;

	for (i = 0; i < sizeof(frame); i++)
		frame[i] = (__u8)(i * 7 + 1);
	for (len = 1; len <= 255; len++) {
		words = (len + 7) / 8;
		memset(&n, 0xee, sizeof(n));
		memset(want, 0, sizeof(want));
		plain = 0;
		for (i = 0; i < len; i++) {
			want[8 * words - len + i] = frame[300 - len + i] < 128 ? (__u8)tolower(frame[300 - len + i]) :
										  frame[300 - len + i];
			plain += (__u64)frame[300 - len + i] << 8 * ((i + len) & 1);
		}
		assert_int_equal(name_words(&f, 300, len, &secret, &n, &q), 0);
		for (i = 0; i < words; i++)
			assert_memory_equal(&n.word[i], want + 8 * (words - 1 - i), 8);
		assert_int_equal(q.name_sum % 65535, plain % 65535);
	}
}

/* Every prefix of a good query passes or is refused by a row of its own; nothing is read behind it. */
static void every_shorter_query_is_refused(void **state)
{
	struct room r;
	__u8 *copy;
	size_t len;

	for (len = 0; len < sizeof(query); len++) {
		room_init(&r, 0, 0);
		copy = malloc(len ? len : 1);
		assert_non_null(copy);
		memcpy(copy, query, len);
		r.f.data = r.f.first = copy;
		r.f.end = r.f.last = copy + len;
		assert_int_not_equal(room_parse(&r), PACKET_GO_ON);
		free(copy);
	}
}

int main(void)
{
	struct CMUnitTest tests[COUNT(grows) + 16];
	size_t n = 0, i;

	for (i = 0; i < COUNT(grows); i++)
		row_add(tests, &n, grows[i].name, grow_row, &grows[i]);
	row_add(tests, &n, "a padded frame is cut to the answer", a_padded_frame_is_cut, NULL);
	row_add(tests, &n, "blocked records are those of block.h, octet for octet", records_are_those_of_block_h, NULL);
	row_add(tests, &n, "the OPT is that of block.h at any offset", the_opt_is_that_of_block_h_at_any_offset, NULL);
	row_add(tests, &n, "an OPT has its text at any offset", the_opt_has_its_text_at_any_offset, NULL);
	row_add(tests, &n, "a text is left out before the answer is", a_text_is_left_out_before_the_answer_is, NULL);
	row_add(tests, &n, "a computed checksum of 0 is sent as 0xffff", a_computed_zero_is_sent_as_ffff, NULL);
	row_add(tests, &n, "replacing a field is summing anew, at any offset", replacing_a_field_is_summing_anew, NULL);
	row_add(tests, &n, "a name is taken to its last octet and no further", a_name_is_taken_to_the_last_octet, NULL);
	row_add(tests, &n, "every shorter query is refused", every_shorter_query_is_refused, NULL);
	return _cmocka_run_group_tests("reply", tests, n, NULL, NULL);
}
