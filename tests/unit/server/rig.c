/* SPDX-License-Identifier: BSD-2-Clause */
/* rig.c - one worker with fake queries on a free port, and clients to ask it. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "unit/server/rig.h"

void rig_sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

uint16_t rig_free_port(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int udp, tcp, i, err;

	for (i = 0; i < 50; i++) {
		sa.sin_port = 0;
		udp = socket(AF_INET, SOCK_DGRAM, 0);
		tcp = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(bind(udp, (struct sockaddr *)&sa, sizeof(sa)), 0);
		assert_int_equal(getsockname(udp, (struct sockaddr *)&sa, &len), 0);
		err = bind(tcp, (struct sockaddr *)&sa, sizeof(sa));
		close(udp);
		close(tcp);
		if (!err)
			return ntohs(sa.sin_port);
	}
	fail_msg("no free port");
	return 0;
}

void rig_start(struct rig *r, const char *listen, const struct worker_opts *opts)
{
	struct worker_opts o = opts ? *opts : (struct worker_opts){ 0 };
	char text[128], *save, *ip;
	struct addr addrs[4];
	struct err_at at = { 0 };

	if (!r->port)
		r->port = rig_free_port();
	snprintf(text, sizeof(text), "%s", listen);
	for (ip = strtok_r(text, ",", &save); ip; ip = strtok_r(NULL, ",", &save))
		assert_int_equal(addr_parse(ip, r->port, &addrs[o.listens++]), 0);
	o.listen = addrs;
	o.ops = fake_ops(&r->fake);
	if (worker_open(&o, &r->w, &at) || worker_start(r->w, &at))
		fail_msg("%s", at.why);
}

void rig_end(struct rig *r)
{
	worker_stop(r->w, 0);
	worker_free(r->w);
	r->w = NULL;
	assert_int_equal(r->fake.lost, 0);
	assert_int_equal(r->fake.made, r->fake.freed);
	assert_int_equal(r->fake.stops, 1);
	assert_int_equal(r->fake.frees, 1);
}

static int client(const struct rig *r, const char *ip, const char *from, int type)
{
	struct timeval patience = { RIG_PATIENCE_MS / 1000, 0 };
	struct sockaddr_storage ss;
	struct addr a;
	socklen_t len;
	int fd;

	assert_int_equal(addr_parse(ip, r->port, &a), 0);
	len = addr_to_sockaddr(&a, &ss);
	fd = socket(ss.ss_family, type, 0);
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (from) {
		struct sockaddr_storage own;

		assert_int_equal(addr_parse(from, 0, &a), 0);
		assert_int_equal(bind(fd, (struct sockaddr *)&own, addr_to_sockaddr(&a, &own)), 0);
	}
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), 0);
	return fd;
}

int rig_udp(const struct rig *r, const char *ip)
{
	return client(r, ip, NULL, SOCK_DGRAM);
}

int rig_tcp(const struct rig *r, const char *ip)
{
	return client(r, ip, NULL, SOCK_STREAM);
}

int rig_tcp_from(const struct rig *r, const char *ip, const char *from)
{
	return client(r, ip, from, SOCK_STREAM);
}

void rig_tcp_send(int fd, const uint8_t *msg, size_t size)
{
	uint8_t framed[2 + 1024] = { (uint8_t)(size >> 8), (uint8_t)size };

	assert_true(size <= 1024);
	memcpy(framed + 2, msg, size);
	assert_int_equal(send(fd, framed, size + 2, MSG_NOSIGNAL), size + 2);
}

static ssize_t read_all(int fd, uint8_t *buf, size_t size)
{
	size_t at = 0;
	ssize_t n;

	while (at < size) {
		n = recv(fd, buf + at, size - at, 0);
		if (n < 0 && errno != ECONNRESET)
			return -1;
		if (n <= 0)
			return 0;
		at += (size_t)n;
	}
	return (ssize_t)at;
}

int rig_tcp_read(int fd, uint8_t *buf, size_t size)
{
	uint8_t len[2];
	ssize_t n;

	n = read_all(fd, len, 2);
	if (n <= 0)
		return (int)n;
	assert_true((size_t)(len[0] << 8 | len[1]) <= size);
	return (int)read_all(fd, buf, (size_t)(len[0] << 8 | len[1]));
}

bool rig_tcp_is_closed(int fd)
{
	uint8_t b;

	return recv(fd, &b, 1, 0) == 0 || errno == ECONNRESET;
}

struct wanted {
	const char *name;
	uint64_t value;
};

static void look(const struct count_row *row, uint64_t value, void *arg)
{
	struct wanted *w = arg;

	if (!strcmp(row->name, w->name))
		w->value = value;
}

uint64_t rig_count(const char *name)
{
	struct wanted w = { .name = name };

	count_each(look, &w);
	return w.value;
}

bool rig_wait(const _Atomic unsigned *value, unsigned least)
{
	unsigned i;

	for (i = 0; i < RIG_PATIENCE_MS / 5 && *value < least; i++)
		rig_sleep_ms(5);
	return *value >= least;
}

bool rig_wait_count(const char *name, uint64_t least)
{
	unsigned i;

	for (i = 0; i < RIG_PATIENCE_MS / 5 && rig_count(name) < least; i++)
		rig_sleep_ms(5);
	return rig_count(name) >= least;
}
