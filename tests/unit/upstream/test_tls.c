/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tls.c - requests over TLS and over HTTPS: who is trusted, what connections are kept, resumed and replaced. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <openssl/sha.h>
#include "unit/upstream/peer.h"
#include "unit/upstream/rig.h"
#include "upstream/transport.h"

#define DAY 86400L
#define NAME "dns.example"

static struct certs authority, other, good, expired, foreign;
static char trusted[] = "/tmp/mr-upstream-XXXXXX";

static struct peer peer_of(bool https)
{
	return (struct peer){ .https = https, .alpn = https ? "\2h2" : "\3dot" };
}

static void start(struct rig *r, struct peer *p, unsigned count, uint32_t timeout_ms)
{
	struct upstream_opts o = { .count = count, .strategy = UPSTREAM_ORDERED, .timeout_ms = timeout_ms, .ca = trusted };

	for (unsigned i = 0; i < count; i++) {
		peer_start(&p[i], "127.0.0.1", (uint8_t)(i + 1), &good);
		peer_server(&p[i], NAME, &o.servers[i]);
	}
	rig_start_opts(r, &o);
}

static void finish(struct rig *r, struct peer *p, unsigned count)
{
	rig_end(r);
	while (count--)
		peer_stop(&p[count]);
}

static void ask_one(struct rig *r, struct asked *a, unsigned i)
{
	assert_int_equal(rig_ask(r, a, i), 0);
	rig_run(r, r->done + 1);
	assert_false(a->too_early);
}

/* Run until the peer has seen so many. */
static void wait_for(struct rig *r, _Atomic unsigned *value, unsigned least)
{
	for (unsigned i = 0; i < 1000 && *value < least; i++)
		rig_run_ms(r, 5);
	assert_true(*value >= least);
}

static void why(const struct rig *r, unsigned server, const char *part)
{
	struct upstream_picture seen;

	assert_true(upstream_pool_look(r->up->pool, server, uv_now(&r->loop), &seen));
	if (!strstr(seen.why, part))
		fail_msg("\"%s\" does not say \"%s\"", seen.why, part);
}

/* ---- over both; the state says which ---- */

static const bool tls = false, https = true;

static void connection_is_kept_and_queries_are_padded(void **state)
{
	bool h = *(const bool *)*state;
	struct peer p = peer_of(h);
	struct asked a[5] = { 0 };
	struct rig r;

	start(&r, &p, 1, 6000);
	for (unsigned i = 0; i < 5; i++) {
		ask_one(&r, &a[i], i);
		assert_int_equal(a[i].tag, 1);
	}
	assert_int_equal(p.conns, 1);
	assert_int_equal(p.queries, 5);
	assert_int_equal(p.odd_sizes, 0);
	assert_int_equal(h ? p.h2 : p.dot, 1);
	assert_int_equal(rig_count(&r, h ? COUNT_upstream_https_queries : COUNT_upstream_tls_queries), 5);
	assert_int_equal(rig_count(&r, COUNT_upstream_handshakes), 1);
	rig_end(&r);
	for (unsigned i = 0; i < 200 && !p.goodbyes; i++)
		usleep(5000);
	assert_int_equal(p.goodbyes, 1);
	peer_stop(&p);
}

static void requests_share_a_connection_and_are_answered_in_any_order(void **state)
{
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a[10] = { 0 };
	struct rig r;

	p.mode = PEER_REVERSE;
	start(&r, &p, 1, 6000);
	for (unsigned i = 0; i < 10; i++)
		rig_ask(&r, &a[i], i);
	rig_run(&r, 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(a[i].tag, 1);
		assert_memory_equal(a[i].msg + 12, a[i].key.name, a[i].key.name_len);
	}
	assert_int_equal(p.conns, 1);
	assert_int_equal(p.at_once, 10);
	finish(&r, &p, 1);
}

static void check_resumed(bool h, int version)
{
	struct peer p = peer_of(h);
	struct asked a[4] = { 0 };
	struct rig r;

	p.tls_version = version;
	p.mode = PEER_LATE_CLOSE;
	p.limit = 1;
	start(&r, &p, 1, 6000);
	for (unsigned i = 0; i < 4; i++) {
		ask_one(&r, &a[i], i);
		assert_int_equal(a[i].tag, 1);
	}
	assert_int_equal(p.conns, 4);
	assert_int_equal(p.resumed, 3);
	assert_int_equal(rig_count(&r, COUNT_upstream_resumed), 3);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 0);
	finish(&r, &p, 1);
}

static void kept_connection_that_broke_is_replaced_and_resumed_by_tls_1_2(void **state)
{
	check_resumed(*(const bool *)*state, TLS1_2_VERSION);
}

static void kept_connection_that_broke_is_replaced_and_resumed_by_tls_1_3(void **state)
{
	check_resumed(*(const bool *)*state, TLS1_3_VERSION);
}

static void those_who_lost_a_connection_together_share_a_fresh_one(void **state)
{
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a[12] = { 0 };
	struct rig r;

	p.limit = 1;
	start(&r, &p, 1, 6000);
	ask_one(&r, &a[0], 0);
	p.mode = PEER_SILENT;
	for (unsigned i = 1; i < 12; i++)
		rig_ask(&r, &a[i], i);
	wait_for(&r, &p.queries, 12);
	p.mode = PEER_SERVE;
	upstream_moved(r.up, 1);
	rig_run(&r, 12);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(a[i].tag, 1);
	assert_int_equal(p.conns, 2);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 0);
	finish(&r, &p, 1);
}

static void fresh_connection_that_breaks_is_an_error(void **state)
{
	struct peer p[2] = { peer_of(*(const bool *)*state), peer_of(*(const bool *)*state) };
	struct asked a = { 0 };
	struct rig r;

	p[0].mode = PEER_LATE_CLOSE;
	start(&r, p, 2, 6000);
	ask_one(&r, &a, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(p[0].conns, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_errors), 1);
	finish(&r, p, 2);
}

static void refused_after_a_while_is_asked_on_a_fresh_connection(void **state)
{
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a[7] = { 0 };
	struct rig r;

	p.mode = PEER_LATE_REFUSED;
	p.limit = 3;
	start(&r, &p, 1, 6000);
	for (unsigned i = 0; i < 7; i++) {
		ask_one(&r, &a[i], i);
		assert_int_equal(a[i].tag, 1);
	}
	assert_int_equal(p.conns, 3);
	assert_int_equal(p.queries, 9);
	rig_run_ms(&r, 50);
	assert_int_equal(p.open, 1);		/* those that had enough are left */
	assert_int_equal(rig_count(&r, COUNT_upstream_failures), 0);
	finish(&r, &p, 1);
}

static void refused_on_a_fresh_connection_is_the_servers_word(void **state)
{
	struct peer p[2] = { peer_of(*(const bool *)*state), peer_of(*(const bool *)*state) };
	struct asked a = { 0 };
	struct rig r;

	p[0].mode = PEER_LATE_REFUSED;
	start(&r, p, 2, 6000);
	ask_one(&r, &a, 1);
	assert_int_equal(a.tag, 2);
	assert_int_equal(p[0].conns, 1);
	assert_int_equal(p[0].queries, 1);
	assert_int_equal(rig_count(&r, COUNT_upstream_failures), 1);
	finish(&r, p, 2);
}

static void slow_handshake_serves_those_who_come_later(void **state)
{
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a[2] = { 0 };
	struct rig r;

	p.shake_ms = UINT_MAX;
	start(&r, &p, 1, 800);
	ask_one(&r, &a[0], 0);
	assert_int_equal(a[0].err, -ETIMEDOUT);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 2);
	p.shake_ms = 0;
	ask_one(&r, &a[1], 1);
	assert_int_equal(a[1].tag, 1);
	assert_int_equal(p.conns, 1);
	finish(&r, &p, 1);
}

static void handshake_without_end_costs_an_attempt_its_time(void **state)
{
	struct peer p[2] = { peer_of(*(const bool *)*state), peer_of(*(const bool *)*state) };
	struct asked a[6] = { 0 };
	struct rig r;

	p[0].shake_ms = UINT_MAX;
	start(&r, p, 2, 2000);
	for (unsigned i = 0; i < 6; i++) {
		ask_one(&r, &a[i], i);
		assert_int_equal(a[i].tag, 2);
	}
	assert_int_equal(p[0].queries, 0);
	rig_run_ms(&r, 50);
	assert_true(p[0].conns < 6);
	finish(&r, p, 2);
}

static void silence_retires_the_connection(void **state)
{
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a[2] = { 0 };
	struct rig r;

	start(&r, &p, 1, 3000);
	ask_one(&r, &a[0], 0);
	rig_run_ms(&r, 20);
	p.mode = PEER_SILENT;
	ask_one(&r, &a[1], 1);
	assert_int_equal(a[1].err, -ETIMEDOUT);
	wait_for(&r, &p.goodbyes, 2);		/* the kept one, and the fresh one behind it */
	assert_true(p.conns >= 2);
	finish(&r, &p, 1);
}

static void one_slow_answer_does_not_cost_others_their_connection(void **state)
{
	bool h = *(const bool *)*state;
	struct peer p = peer_of(h);
	struct asked a[60] = { 0 };
	struct rig r;

	start(&r, &p, 1, 4000);
	p.mode = PEER_SILENT;
	rig_ask(&r, &a[0], 0);
	wait_for(&r, &p.queries, 1);
	p.mode = PEER_SERVE;
	for (unsigned i = 1; i < 60 && !a[0].ended; i++) {
		rig_ask(&r, &a[i], i);
		rig_run_ms(&r, 60);
	}
	assert_int_equal(a[0].tag, 1);	/* by its second attempt */
	assert_int_equal(p.resets, h);
	assert_int_equal(rig_count(&r, COUNT_upstream_timeouts), 1);
	assert_int_equal(p.conns, 1);
	finish(&r, &p, 1);
}

static void waiting_requests_end_when_the_object_goes(void **state)
{
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a[3] = { 0 };
	struct rig r;

	p.mode = PEER_SILENT;
	start(&r, &p, 1, 5000);
	for (unsigned i = 0; i < 3; i++)
		rig_ask(&r, &a[i], i);
	wait_for(&r, &p.queries, 3);
	rig_end(&r);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(a[i].err, -ECANCELED);
	peer_stop(&p);
}

static void authorities_that_cannot_be_read_are_the_reason(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 1000, .ca = "/dev/null" };
	struct peer p = peer_of(*(const bool *)*state);
	struct asked a = { 0 };
	struct rig r;

	peer_start(&p, "127.0.0.1", 1, &good);
	peer_server(&p, NAME, &o.servers[0]);
	rig_start_opts(&r, &o);
	ask_one(&r, &a, 1);
	assert_int_equal(a.err, -EINVAL);
	assert_int_equal(p.conns, 0);
	why(&r, 0, "/dev/null: there is no certificate to trust");
	finish(&r, &p, 1);
}

static const struct CMUnitTest both[] = {
#define BOTH(f) { #f, f, NULL, NULL, NULL }
	BOTH(connection_is_kept_and_queries_are_padded),
	BOTH(requests_share_a_connection_and_are_answered_in_any_order),
	BOTH(kept_connection_that_broke_is_replaced_and_resumed_by_tls_1_2),
	BOTH(kept_connection_that_broke_is_replaced_and_resumed_by_tls_1_3),
	BOTH(those_who_lost_a_connection_together_share_a_fresh_one),
	BOTH(fresh_connection_that_breaks_is_an_error),
	BOTH(refused_after_a_while_is_asked_on_a_fresh_connection),
	BOTH(refused_on_a_fresh_connection_is_the_servers_word),
	BOTH(slow_handshake_serves_those_who_come_later),
	BOTH(handshake_without_end_costs_an_attempt_its_time),
	BOTH(silence_retires_the_connection),
	BOTH(one_slow_answer_does_not_cost_others_their_connection),
	BOTH(waiting_requests_end_when_the_object_goes),
	BOTH(authorities_that_cannot_be_read_are_the_reason),
};

/* ---- who is trusted ---- */

static const struct trust_case {
	const char *name;
	const struct certs *cert;
	const char *peer;
	const struct certs *pin;
	bool https;
	int err;
	const char *why;
} trusts[] = {
	{ "tls_takes_a_certificate_for_the_address", &good, "127.0.0.1", NULL, false, 0, "" },
	{ "https_takes_a_certificate_for_the_address", &good, "127.0.0.1", NULL, true, 0, "" },
	{ "tls_refuses_another_name", &good, "other.example", NULL, false, -EACCES, "hostname mismatch" },
	{ "https_refuses_another_name", &good, "other.example", NULL, true, -EACCES, "hostname mismatch" },
	{ "tls_refuses_another_address", &good, "127.0.0.2", NULL, false, -EACCES, "IP address mismatch" },
	{ "tls_refuses_an_expired_certificate", &expired, NAME, NULL, false, -EACCES, "certificate has expired" },
	{ "https_refuses_an_expired_certificate", &expired, NAME, NULL, true, -EACCES, "certificate has expired" },
	{ "tls_refuses_another_authority", &foreign, NAME, NULL, false, -EACCES, "local issuer" },
	{ "tls_takes_a_pinned_key_of_another_authority", &foreign, NAME, &foreign, false, 0, "" },
	{ "https_takes_a_pinned_key_of_another_authority", &foreign, NAME, &foreign, true, 0, "" },
	{ "tls_refuses_a_key_that_is_not_pinned", &good, NAME, &foreign, false, -EACCES, "pinned" },
	{ "https_refuses_a_key_that_is_not_pinned", &good, NAME, &foreign, true, -EACCES, "pinned" },
};

static void is_trusted(void **state)
{
	struct upstream_opts o = { .count = 1, .timeout_ms = 6000, .ca = trusted };
	const struct trust_case *c = *state;
	struct peer p = peer_of(c->https);
	uint8_t *der = NULL;
	struct asked a = { 0 };
	struct rig r;

	peer_start(&p, "127.0.0.1", 1, c->cert);
	peer_server(&p, c->peer, &o.servers[0]);
	if (c->pin) {
		int len = i2d_PUBKEY(c->pin->key, &der);

		SHA256(der, (size_t)len, o.servers[0].pin[1]);
		OPENSSL_free(der);
		o.servers[0].pins = 2;
	}
	rig_start_opts(&r, &o);
	ask_one(&r, &a, 1);
	assert_int_equal(a.err, c->err);
	assert_int_equal(a.tag, c->err ? -1 : 1);
	assert_int_equal(p.queries, c->err ? 0 : 1);
	why(&r, 0, c->why);
	finish(&r, &p, 1);
}

/* ---- the rest ---- */

static void server_that_knows_no_alpn_is_asked_over_tls_all_the_same(void **state)
{
	struct peer p = { .alpn = NULL };
	struct asked a = { 0 };
	struct rig r;

	start(&r, &p, 1, 6000);
	ask_one(&r, &a, 1);
	assert_int_equal(a.tag, 1);
	assert_int_equal(p.dot, 0);
	finish(&r, &p, 1);
}

static void idle_connections_are_closed_before_servers_do(void **state)
{
	struct peer p[2] = { peer_of(false), peer_of(true) };
	struct asked a[2] = { 0 };
	struct rig r;

	start(&r, p, 2, 6000);
	ask_one(&r, &a[0], 0);
	p[0].mode = PEER_LATE_REFUSED;
	ask_one(&r, &a[1], 1);
	assert_int_equal(a[1].tag, 2);
	rig_run_ms(&r, 6500);
	assert_int_equal(p[1].open, 1);
	rig_run_ms(&r, 1300);
	assert_int_equal(p[0].open + p[1].open, 0);
	assert_int_equal(p[1].goodbyes, 1);
	finish(&r, p, 2);
}

#define BOTHS (sizeof(both) / sizeof(both[0]))
#define TRUSTS (sizeof(trusts) / sizeof(trusts[0]))
#define ROW(f) { #f, f, NULL, NULL, NULL }

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		ROW(server_that_knows_no_alpn_is_asked_over_tls_all_the_same),
		ROW(idle_connections_are_closed_before_servers_do),
	};
	struct CMUnitTest tests[2 * BOTHS + TRUSTS + sizeof(fixed) / sizeof(fixed[0])];
	static char names[2 * BOTHS][100];
	int failed;

	authority = certs_make(NULL, NULL, -DAY, DAY);
	other = certs_make(NULL, NULL, -DAY, DAY);
	good = certs_make(&authority, "DNS:" NAME ",IP:127.0.0.1", -DAY, DAY);
	expired = certs_make(&authority, "DNS:" NAME, -2 * DAY, -DAY);
	foreign = certs_make(&other, "DNS:" NAME, -DAY, DAY);
	certs_write(&authority, trusted);
	for (size_t i = 0; i < 2 * BOTHS; i++) {
		tests[i] = both[i % BOTHS];
		tests[i].initial_state = (void *)(i < BOTHS ? &tls : &https);
		snprintf(names[i], sizeof(names[i]), "%s_over_%s", tests[i].name, i < BOTHS ? "tls" : "https");
		tests[i].name = names[i];
	}
	for (size_t i = 0; i < TRUSTS; i++)
		tests[2 * BOTHS + i] = (struct CMUnitTest){ trusts[i].name, is_trusted, NULL, NULL, (void *)&trusts[i] };
	memcpy(tests + 2 * BOTHS + TRUSTS, fixed, sizeof(fixed));
	failed = cmocka_run_group_tests_name("upstream/tls", tests, NULL, NULL);
	unlink(trusted);
	certs_free(&authority);
	certs_free(&other);
	certs_free(&good);
	certs_free(&expired);
	certs_free(&foreign);
	return failed;
}
