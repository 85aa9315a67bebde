/* SPDX-License-Identifier: BSD-2-Clause */
/* test_udp.c - batches of datagrams over the loopback. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/udp.h"

struct pair {
	struct udp_socket server, client;
	struct addr to;			/* the server, as the client sees it */
	struct udp_in *in;
	struct udp_out *out;
};

/* A server on @listen that is asked at @at by a client of that very address. */
static void pair_open(struct pair *p, const char *listen, const char *at)
{
	struct addr a;

	assert_int_equal(addr_parse(listen, 0, &a), 0);
	assert_int_equal(udp_open(&a, &p->server), 0);
	assert_int_equal(addr_parse(at, 0, &a), 0);
	assert_int_equal(udp_open(&a, &p->client), 0);
	p->to = a;
	p->to.port = p->server.bound.port;
	p->in = malloc(sizeof(*p->in));
	p->out = malloc(sizeof(*p->out));
	udp_in_init(p->in);
	udp_out_init(p->out);
}

static void pair_close(struct pair *p)
{
	udp_close(&p->server);
	udp_close(&p->client);
	udp_close(&p->client);		/* harmless */
	free(p->in);
	free(p->out);
}

/* Take one batch, waiting for it. */
static int take(struct pair *p, const struct udp_socket *s)
{
	struct pollfd fd = { s->fd, POLLIN, 0 };

	assert_int_equal(poll(&fd, 1, 5000), 1);
	return udp_recv(s, p->in);
}

struct way_case {
	const char *name;
	const char *listen, *at;
};

static const struct way_case way_cases[] = {
	{ "ipv4_there_and_back", "127.0.0.1", "127.0.0.1" },
	{ "ipv6_there_and_back", "::1", "::1" },
	{ "ipv4_wildcard_knows_the_destination", "0.0.0.0", "127.0.0.1" },
	{ "ipv4_wildcard_knows_another_destination", "0.0.0.0", "127.3.2.1" },
	{ "ipv6_wildcard_knows_the_destination", "::", "::1" },
};

static void there_and_back(void **state)
{
	const struct way_case *c = *state;
	struct udp_datagram d;
	struct pair p;

	pair_open(&p, c->listen, c->at);
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, (const uint8_t *)"question", 8);
	assert_int_equal(udp_send(&p.client, p.out), 1);
	assert_int_equal(take(&p, &p.server), 1);
	assert_true(udp_in_get(p.in, 0, &d));
	assert_int_equal(d.size, 8);
	assert_memory_equal(d.data, "question", 8);
	assert_true(addr_same(&d.peer, &p.client.bound));
	assert_true(addr_same(&d.local, &p.to));
	udp_out_add(p.out, &p.server, &d.peer, &d.local, (const uint8_t *)"answer", 6);
	assert_int_equal(udp_send(&p.server, p.out), 1);
	assert_int_equal(take(&p, &p.client), 1);
	assert_true(udp_in_get(p.in, 0, &d));
	assert_int_equal(d.size, 6);
	assert_true(addr_same(&d.peer, &p.to));
	pair_close(&p);
}

static void nothing_to_take_is_no_error(void **state)
{
	struct pair p;

	pair_open(&p, "127.0.0.1", "127.0.0.1");
	assert_int_equal(udp_recv(&p.server, p.in), 0);
	assert_int_equal(udp_send(&p.server, p.out), 0);
	pair_close(&p);
}

static void more_than_a_batch_comes_in_batches_and_in_order(void **state)
{
	uint8_t number[3 * UDP_BATCH];
	struct udp_datagram d;
	struct pair p;
	int i, n, got = 0;

	pair_open(&p, "0.0.0.0", "127.0.0.1");
	for (i = 0; i < 150; i++) {
		number[i] = (uint8_t)i;
		udp_out_add(p.out, &p.client, &p.to, &p.client.bound, &number[i], 1);
		if (p.out->count == UDP_BATCH || i == 149) {
			n = (int)p.out->count;
			assert_int_equal(udp_send(&p.client, p.out), n);
			assert_int_equal(p.out->count, 0);
		}
	}
	while (got < 150) {
		n = take(&p, &p.server);
		assert_in_range(n, 1, UDP_BATCH);
		for (i = 0; i < n; i++, got++) {
			assert_true(udp_in_get(p.in, (unsigned)i, &d));
			assert_int_equal(d.data[0], got);
			assert_true(addr_same(&d.local, &p.to));
		}
	}
	pair_close(&p);
}

static void datagram_of_the_greatest_size_is_whole_and_one_more_is_not(void **state)
{
	static uint8_t big[UDP_SIZE_MAX + 1];
	struct udp_datagram d;
	struct pair p;

	pair_open(&p, "127.0.0.1", "127.0.0.1");
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, big, UDP_SIZE_MAX);
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, big, UDP_SIZE_MAX + 1);
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, big, 5);
	assert_int_equal(udp_send(&p.client, p.out), 3);
	assert_int_equal(take(&p, &p.server), 3);
	assert_true(udp_in_get(p.in, 0, &d));
	assert_int_equal(d.size, UDP_SIZE_MAX);
	assert_false(udp_in_get(p.in, 1, &d));
	assert_true(udp_in_get(p.in, 2, &d));
	assert_int_equal(d.size, 5);
	pair_close(&p);
}

/* The second of three is too long for any datagram: it alone is not sent. */
static void datagram_that_is_refused_does_not_stop_the_others(void **state)
{
	static uint8_t big[65530];
	struct pair p;

	pair_open(&p, "127.0.0.1", "127.0.0.1");
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, big, 1);
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, big, sizeof(big));
	udp_out_add(p.out, &p.client, &p.to, &p.client.bound, big, 3);
	assert_int_equal(udp_send(&p.client, p.out), 2);
	assert_int_equal(take(&p, &p.server), 2);
	assert_int_equal(p.in->head[1].msg_len, 3);
	pair_close(&p);
}

static void socket_that_is_gone_takes_nothing(void **state)
{
	struct pair p;
	int i;

	pair_open(&p, "127.0.0.1", "127.0.0.1");
	udp_close(&p.client);
	for (i = 0; i < UDP_BATCH; i++)
		udp_out_add(p.out, &p.client, &p.to, &p.client.bound, (const uint8_t *)"x", 1);
	assert_int_equal(udp_send(&p.client, p.out), 0);
	assert_int_equal(p.out->count, 0);
	assert_int_equal(udp_recv(&p.client, p.in), -EBADF);
	pair_close(&p);
}

static void address_is_shared_by_its_sockets(void **state)
{
	struct udp_socket a, b;
	struct addr any;

	assert_int_equal(addr_parse("127.0.0.1", 0, &any), 0);
	assert_int_equal(udp_open(&any, &a), 0);
	assert_int_equal(udp_open(&a.bound, &b), 0);
	assert_true(addr_same(&a.bound, &b.bound));
	udp_close(&a);
	udp_close(&b);
}

static void both_families_have_a_wildcard_on_one_port(void **state)
{
	struct udp_socket a, b;
	struct addr any;

	assert_int_equal(addr_parse("::", 0, &any), 0);
	assert_int_equal(udp_open(&any, &a), 0);
	assert_int_equal(addr_parse("0.0.0.0", a.bound.port, &any), 0);
	assert_int_equal(udp_open(&any, &b), 0);
	udp_close(&a);
	udp_close(&b);
}

static void address_that_is_not_ours_is_an_error(void **state)
{
	struct udp_socket s = { .fd = 7 };
	struct addr a;

	assert_int_equal(addr_parse("192.0.2.1", 0, &a), 0);
	assert_int_equal(udp_open(&a, &s), -EADDRNOTAVAIL);
	assert_int_equal(s.fd, 7);
}

static void address_that_somebody_shares_is_not_free(void **state)
{
	struct udp_socket s;
	struct addr a;

	assert_int_equal(addr_parse("127.0.0.1", 0, &a), 0);
	assert_int_equal(udp_probe(&a), 0);
	assert_int_equal(udp_open(&a, &s), 0);
	assert_int_equal(udp_probe(&s.bound), -EADDRINUSE);
	udp_close(&s);
	assert_int_equal(udp_probe(&s.bound), 0);
}

#define WAYS (sizeof(way_cases) / sizeof(way_cases[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(nothing_to_take_is_no_error),
		ROW(more_than_a_batch_comes_in_batches_and_in_order),
		ROW(datagram_of_the_greatest_size_is_whole_and_one_more_is_not),
		ROW(datagram_that_is_refused_does_not_stop_the_others),
		ROW(socket_that_is_gone_takes_nothing),
		ROW(address_is_shared_by_its_sockets),
		ROW(both_families_have_a_wildcard_on_one_port),
		ROW(address_that_is_not_ours_is_an_error),
		ROW(address_that_somebody_shares_is_not_free),
	};
	struct CMUnitTest tests[WAYS + sizeof(fixed) / sizeof(fixed[0])];
	size_t i;

	for (i = 0; i < WAYS; i++)
		tests[i] = (struct CMUnitTest){ way_cases[i].name, there_and_back, NULL, NULL, (void *)&way_cases[i] };
	memcpy(tests + WAYS, fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("net/udp", tests, NULL, NULL);
}
