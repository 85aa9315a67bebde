/* SPDX-License-Identifier: BSD-2-Clause */
/* test_worker.c - the life of a worker: opening, jobs, ticks, the end. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "unit/server/rig.h"

/* ---- opening ---- */

struct open_case {
	const char *name;
	const char *listen;
	int type;			/* a socket of this kind holds the port; 0: none */
	int err;
	const char *why;		/* must be in the text, besides the address */
};

static const struct open_case open_cases[] = {
	{ "port_in_use_over_udp_is_said_with_the_address", "127.0.0.1", SOCK_DGRAM, -EADDRINUSE, "UDP" },
	{ "port_in_use_over_tcp_is_said_with_the_address", "127.0.0.1", SOCK_STREAM, -EADDRINUSE, "TCP" },
	{ "address_that_is_not_ours_is_said", "192.0.2.1", 0, -EADDRNOTAVAIL, "UDP" },
	{ "ipv6_address_that_is_not_ours_is_said", "2001:db8::1", 0, -EADDRNOTAVAIL, "UDP" },
};

static void open_fails(void **state)
{
	const struct open_case *c = *state;
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	struct worker_opts o = { .listens = 1 };
	char text[ADDR_TEXT_MAX];
	struct worker *w = NULL;
	struct err_at at = { 0 };
	uint16_t port = rig_free_port();
	struct fake f = { 0 };
	struct addr a;
	int fd = -1;

	assert_int_equal(addr_parse(c->listen, port, &a), 0);
	if (c->type) {
		fd = socket(AF_INET, c->type, 0);
		sa.sin_port = htons(port);
		assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
		if (c->type == SOCK_STREAM)
			assert_int_equal(listen(fd, 1), 0);
	}
	o.listen = &a;
	o.ops = fake_ops(&f);
	assert_int_equal(worker_open(&o, &w, &at), c->err);
	assert_null(w);
	assert_non_null(strstr(at.why, addr_text(&a, text, sizeof(text))));
	assert_non_null(strstr(at.why, c->why));
	if (fd >= 0)
		close(fd);
}

static void open_worker_that_never_starts_can_be_freed(void **state)
{
	struct worker_opts o = { .listens = 1 };
	struct worker_job job = { 0 };
	struct fake f = { 0 };
	struct worker *w;
	struct addr a;

	assert_int_equal(addr_parse("127.0.0.1", rig_free_port(), &a), 0);
	o.listen = &a;
	o.ops = fake_ops(&f);
	assert_int_equal(worker_open(&o, &w, NULL), 0);
	assert_false(worker_post(w, &job));
	worker_stop(w, 1000);
	worker_free(w);
	assert_int_equal(f.starts, 0);
}

static void error_of_start_comes_back(void **state)
{
	struct fake f = { .start_err = -ENOSYS };
	struct worker_opts o = { .listens = 1, .index = 3 };
	struct worker_job job = { 0 };
	struct err_at at = { 0 };
	struct worker *w;
	struct addr a;

	assert_int_equal(addr_parse("127.0.0.1", rig_free_port(), &a), 0);
	o.listen = &a;
	o.ops = fake_ops(&f);
	assert_int_equal(worker_open(&o, &w, &at), 0);
	assert_int_equal(worker_start(w, &at), -ENOSYS);
	assert_non_null(strstr(at.why, "worker 3"));
	assert_false(worker_post(w, &job));
	worker_free(w);
	assert_int_equal(f.stops, 0);
	assert_int_equal(f.frees, 0);
}

static void nothing_to_free_is_fine(void **state)
{
	worker_free(NULL);
}

static void workers_share_an_address(void **state)
{
	struct rig a = { 0 }, b = { 0 };
	uint8_t msg[FAKE_QUERY], buf[64];
	int fd, i;

	rig_start(&a, "127.0.0.1", NULL);
	b.port = a.port;
	rig_start(&b, "127.0.0.1", NULL);
	for (i = 0; i < 64; i++) {
		fd = rig_udp(&a, "127.0.0.1");
		fake_message((uint16_t)i, FAKE_ECHO, 0, 0, msg);
		assert_int_equal(send(fd, msg, sizeof(msg), 0), sizeof(msg));
		assert_int_equal(recv(fd, buf, sizeof(buf), 0), FAKE_ANSWER);
		close(fd);
	}
	/* the kernel spreads by port: that one of them gets none of 64 has a chance of 2^-63 */
	assert_true(a.fake.made > 0 && b.fake.made > 0);
	assert_int_equal(a.fake.made + b.fake.made, 64);
	rig_end(&a);
	rig_end(&b);
}

static void sign_of_life_ticks(void **state)
{
	struct rig r = { 0 };

	rig_start(&r, "127.0.0.1", NULL);
	assert_true(rig_wait(&r.fake.ticks, 3));
	rig_end(&r);
}

/* ---- jobs ---- */

struct numbered {
	struct worker_job job;
	unsigned number;
	unsigned *next;			/* only the worker's thread touches it */
	_Atomic unsigned *done;
	_Atomic unsigned *disorder;
};

static void run_numbered(struct worker_job *job)
{
	struct numbered *n = (struct numbered *)job;

	if (*n->next != n->number)
		++*n->disorder;
	*n->next = n->number + 1;
	++*n->done;
}

struct poster {
	struct worker *w;
	struct numbered jobs[1000];
	unsigned next;
	_Atomic unsigned done;
	_Atomic unsigned disorder;
	unsigned taken;
};

static void *post_all(void *arg)
{
	struct poster *p = arg;
	unsigned i;

	for (i = 0; i < 1000; i++) {
		p->jobs[i] = (struct numbered){ { run_numbered, NULL }, i, &p->next, &p->done, &p->disorder };
		p->taken += worker_post(p->w, &p->jobs[i].job);
	}
	return NULL;
}

static void jobs_of_each_thread_run_in_order(void **state)
{
	struct poster *p = calloc(2, sizeof(*p));
	struct rig r = { 0 };
	pthread_t t[2];
	int i;

	rig_start(&r, "127.0.0.1", NULL);
	for (i = 0; i < 2; i++) {
		p[i].w = r.w;
		assert_int_equal(pthread_create(&t[i], NULL, post_all, &p[i]), 0);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(p[i].taken, 1000);
		assert_true(rig_wait(&p[i].done, 1000));
		assert_int_equal(p[i].disorder, 0);
	}
	rig_end(&r);
	free(p);
}

static void jobs_taken_before_the_end_run(void **state)
{
	struct poster *p = calloc(1, sizeof(*p));
	struct rig r = { 0 };
	pthread_t t;

	rig_start(&r, "127.0.0.1", NULL);
	p->w = r.w;
	assert_int_equal(pthread_create(&t, NULL, post_all, p), 0);
	rig_sleep_ms(1);
	worker_stop(r.w, 0);
	pthread_join(t, NULL);
	assert_int_equal(p->done, p->taken);
	assert_int_equal(p->disorder, 0);
	assert_false(worker_post(r.w, &p->jobs[0].job));
	rig_end(&r);
	free(p);
}

/* Who is told that a worker takes no more may end its queries: so it takes jobs until it has none left. */
static void jobs_are_taken_until_all_queries_have_ended(void **state)
{
	struct poster *p = calloc(1, sizeof(*p));
	struct rig r = { 0 };

	rig_start(&r, "127.0.0.1", NULL);
	p->jobs[0] = (struct numbered){ { run_numbered, NULL }, 0, &p->next, &p->done, &p->disorder };
	r.fake.at_stop = &p->jobs[0].job;
	worker_stop(r.w, 0);
	assert_true(r.fake.at_stop_taken);
	assert_int_equal(p->done, 1);
	rig_end(&r);
	free(p);
}

/* ---- the end ---- */

static void stop_waits_for_queries_under_way(void **state)
{
	uint8_t msg[FAKE_QUERY], buf[64];
	struct rig r = { 0 };
	int udp, tcp;

	rig_start(&r, "127.0.0.1", NULL);
	udp = rig_udp(&r, "127.0.0.1");
	tcp = rig_tcp(&r, "127.0.0.1");
	fake_message(1, FAKE_DELAY, 200, 0, msg);
	assert_int_equal(send(udp, msg, sizeof(msg), 0), sizeof(msg));
	rig_tcp_send(tcp, msg, sizeof(msg));
	assert_true(rig_wait(&r.fake.made, 2));
	worker_stop(r.w, RIG_PATIENCE_MS);
	assert_int_equal(r.fake.abandoned, 0);
	assert_int_equal(recv(udp, buf, sizeof(buf), 0), FAKE_ANSWER);
	assert_int_equal(rig_tcp_read(tcp, buf, sizeof(buf)), FAKE_ANSWER);
	assert_true(rig_tcp_is_closed(tcp));
	close(udp);
	close(tcp);
	rig_end(&r);
}

static void stop_abandons_what_takes_too_long(void **state)
{
	uint8_t msg[FAKE_QUERY];
	struct rig r = { 0 };
	int udp, tcp;

	rig_start(&r, "127.0.0.1", NULL);
	udp = rig_udp(&r, "127.0.0.1");
	tcp = rig_tcp(&r, "127.0.0.1");
	fake_message(1, FAKE_HOLD, 0, 0, msg);
	assert_int_equal(send(udp, msg, sizeof(msg), 0), sizeof(msg));
	rig_tcp_send(tcp, msg, sizeof(msg));
	assert_true(rig_wait(&r.fake.made, 2));
	worker_stop(r.w, 100);
	assert_int_equal(r.fake.abandoned, 2);
	assert_true(rig_tcp_is_closed(tcp));
	close(udp);
	close(tcp);
	rig_end(&r);
}

static void who_was_told_to_end_ends_by_himself(void **state)
{
	uint8_t msg[FAKE_QUERY];
	struct rig r = { 0 };
	int udp;

	rig_start(&r, "127.0.0.1", NULL);
	udp = rig_udp(&r, "127.0.0.1");
	fake_message(1, FAKE_HOLD, 0, 0, msg);
	assert_int_equal(send(udp, msg, sizeof(msg), 0), sizeof(msg));
	assert_true(rig_wait(&r.fake.made, 1));
	worker_end(r.w, 50);
	worker_end(r.w, 600000);		/* the first word counts */
	assert_true(rig_wait(&r.fake.stops, 1));
	close(udp);
	rig_end(&r);
}

static void idle_connections_do_not_hold_up_the_end(void **state)
{
	uint8_t msg[FAKE_QUERY], buf[64];
	struct rig r = { 0 };
	int tcp[20], i;

	rig_start(&r, "127.0.0.1", NULL);
	fake_message(1, FAKE_ECHO, 0, 0, msg);
	for (i = 0; i < 20; i++) {
		tcp[i] = rig_tcp(&r, "127.0.0.1");
		rig_tcp_send(tcp[i], msg, sizeof(msg));
		assert_int_equal(rig_tcp_read(tcp[i], buf, sizeof(buf)), FAKE_ANSWER);
	}
	worker_stop(r.w, 600000);		/* hangs here when they do */
	for (i = 0; i < 20; i++) {
		assert_true(rig_tcp_is_closed(tcp[i]));
		close(tcp[i]);
	}
	rig_end(&r);
}

static void port_is_free_again_after_the_end(void **state)
{
	struct rig r = { 0 };
	uint16_t port;
	int i;

	for (i = 0; i < 3; i++) {
		rig_start(&r, "127.0.0.1,::1", NULL);
		port = r.port;
		rig_end(&r);
		memset(&r, 0, sizeof(r));
		r.port = port;
	}
}

#define OPEN_CASES (sizeof(open_cases) / sizeof(open_cases[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(open_worker_that_never_starts_can_be_freed),
		ROW(error_of_start_comes_back),
		ROW(nothing_to_free_is_fine),
		ROW(workers_share_an_address),
		ROW(sign_of_life_ticks),
		ROW(jobs_of_each_thread_run_in_order),
		ROW(jobs_taken_before_the_end_run),
		ROW(jobs_are_taken_until_all_queries_have_ended),
		ROW(stop_waits_for_queries_under_way),
		ROW(stop_abandons_what_takes_too_long),
		ROW(who_was_told_to_end_ends_by_himself),
		ROW(idle_connections_do_not_hold_up_the_end),
		ROW(port_is_free_again_after_the_end),
	};
	struct CMUnitTest tests[OPEN_CASES + sizeof(fixed) / sizeof(fixed[0])];
	size_t i;

	for (i = 0; i < OPEN_CASES; i++)
		tests[i] = (struct CMUnitTest){ open_cases[i].name, open_fails, NULL, NULL, (void *)&open_cases[i] };
	memcpy(tests + OPEN_CASES, fixed, sizeof(fixed));
	return cmocka_run_group_tests_name("server/worker", tests, NULL, NULL);
}
