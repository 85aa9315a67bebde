/* SPDX-License-Identifier: BSD-2-Clause */
/* lists_resolve.c - a question over UDP, over TCP when the answer was cut, and what it says. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/random.h"
#include "dns/msg.h"
#include "dns/name.h"
#include "lists/lists_resolve.h"
#include "net/sock.h"

#define TRY_NS    (2 * CLOCK_S)		/* for one server, UDP and TCP each */
#define SLICE_NS  (CLOCK_S / 10)
#define ROUNDS    2
#define ALIASES   16
#define QUERY_MAX (DNS_HEADER + DNS_NAME_MAX + 4)

/* One question under way. */
struct asking {
	const struct lists_resolver *r;
	const struct addr *server;
	uint64_t until;
	unsigned rounds;
	uint8_t qname[DNS_NAME_MAX];
	uint16_t qname_len, qtype, id;
	size_t query_len;
	uint8_t query[2 + QUERY_MAX];	/* behind the length that TCP wants */
	size_t size;			/* of the answer */
	uint8_t answer[65535];
};

/* Wait for the socket, but not past the end of this try. */
static int wait_for(const struct asking *a, int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now, slice;
	int n;

	for (;;) {
		if (a->r->cancel && atomic_load(a->r->cancel))
			return -ECANCELED;
		now = clock_fine_ns();
		if (now >= a->until)
			return -ETIMEDOUT;
		slice = a->until - now < SLICE_NS ? a->until - now : SLICE_NS;
		n = poll(&p, 1, (int)(slice / CLOCK_MS) + 1);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static void put16(uint8_t *p, uint16_t v)
{
	v = htons(v);
	memcpy(p, &v, 2);
}

static void make_query(struct asking *a)
{
	uint8_t *q = a->query + 2;

	memset(a->query, 0, sizeof(a->query));
	a->id = random_u16();
	a->query_len = DNS_HEADER + a->qname_len + 4U;
	put16(a->query, (uint16_t)a->query_len);
	put16(q, a->id);
	put16(q + 2, DNS_RD);
	put16(q + 4, 1);
	memcpy(q + DNS_HEADER, a->qname, a->qname_len);
	put16(q + DNS_HEADER + a->qname_len, a->qtype);
	put16(q + DNS_HEADER + a->qname_len + 2, DNS_IN);
}

/* The answer to our question, and not to another (RFC 5452 section 9.1). */
static bool is_ours(const struct asking *a, struct dns_response *r)
{
	return !dns_response_parse(a->answer, a->size, r) && r->id == a->id && r->has_question && r->qtype == a->qtype &&
	       r->qclass == DNS_IN && r->qname_len == a->qname_len && dns_name_equal(r->qname, a->qname);
}

static int reach(const struct asking *a, int type, int *ret_fd)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a->server, &ss);
	int fd = -1, err;

	err = sock_new(a->server, type, &fd);
	if (err)
		return err;
	if (type == SOCK_DGRAM)
		err = sock_bind_random(fd, a->server);
	if (!err && connect(fd, (struct sockaddr *)&ss, len) && errno != EINPROGRESS)
		err = -errno;
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

/* connect() filters only what comes after it: something may have been queued since bind(). */
static bool is_from_server(const struct asking *a, const struct sockaddr_storage *from)
{
	struct addr who;

	addr_from_sockaddr((const struct sockaddr *)from, &who);
	return addr_same(&who, a->server);
}

static int ask_udp(struct asking *a, struct dns_response *ret)
{
	struct sockaddr_storage from;
	socklen_t len;
	ssize_t n;
	int fd, err;

	err = reach(a, SOCK_DGRAM, &fd);
	if (err)
		return err;
	if (send(fd, a->query + 2, a->query_len, MSG_NOSIGNAL) < 0)
		err = -errno;
	while (!err) {
		err = wait_for(a, fd, POLLIN);
		if (err)
			break;
		len = sizeof(from);
		n = recvfrom(fd, a->answer, sizeof(a->answer), MSG_DONTWAIT, (struct sockaddr *)&from, &len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			err = -errno;
		a->size = n < 0 ? 0 : (size_t)n;
		if (n >= 0 && is_from_server(a, &from) && is_ours(a, ret))
			break;
	}
	close(fd);
	return err;
}

/* Move @size octets over the stream, out of or into @p. */
static int move(const struct asking *a, int fd, bool out, uint8_t *p, size_t size)
{
	ssize_t n;
	int err;

	while (size) {
		err = wait_for(a, fd, out ? POLLOUT : POLLIN);
		if (err)
			return err;
		n = out ? send(fd, p, size, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(fd, p, size, MSG_DONTWAIT);
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int ask_tcp(struct asking *a, struct dns_response *ret)
{
	uint8_t size[2];
	int fd, err;

	err = reach(a, SOCK_STREAM, &fd);
	if (err)
		return err;
	err = move(a, fd, true, a->query, 2 + a->query_len);
	err = err ? err : move(a, fd, false, size, 2);
	a->size = err ? 0 : (size_t)(size[0] << 8 | size[1]);
	err = err ? err : move(a, fd, false, a->answer, a->size);
	if (!err && !is_ours(a, ret))
		err = -EBADMSG;
	close(fd);
	return err;
}

/* The alias of @name, written over it; false when it has none here. */
static bool follow(const struct dns_response *answer, uint8_t *name)
{
	struct dns_response walk = *answer;
	struct dns_rr rr;

	while (dns_rr_next(&walk, &rr) == 1 && rr.section == DNS_ANSWER)
		if (rr.type == DNS_CNAME && rr.class == DNS_IN && dns_name_equal(rr.owner, name))
			return dns_name_expand(walk.msg, walk.size, rr.rdata, name, NULL) > 0;
	return false;
}

static bool read_addr(const struct asking *a, const struct dns_response *r, const struct dns_rr *rr, struct addr *ret)
{
	if (rr->section != DNS_ANSWER || rr->type != a->qtype || rr->class != DNS_IN ||
	    rr->rdata_len != (rr->type == DNS_A ? 4 : 16))
		return false;
	memset(ret, 0, sizeof(*ret));
	if (rr->type == DNS_A)
		ret->ip[10] = ret->ip[11] = 0xff;
	memcpy(ret->ip + 16 - rr->rdata_len, r->msg + rr->rdata, rr->rdata_len);
	return true;
}

/* The addresses at the end of the chain of aliases; returns how many there are. */
static unsigned collect(const struct asking *a, const struct dns_response *answer, struct addr *ret, unsigned max)
{
	struct dns_response walk = *answer;
	uint8_t name[DNS_NAME_MAX];
	unsigned count = 0, i;
	struct dns_rr rr;

	memcpy(name, a->qname, a->qname_len);
	for (i = 0; i < ALIASES && follow(answer, name); i++)
		;
	while (count < max && dns_rr_next(&walk, &rr) == 1)
		if (dns_name_equal(rr.owner, name) && read_addr(a, &walk, &rr, &ret[count]))
			count++;
	return count;
}

static void set_until(struct asking *a)
{
	a->until = clock_fine_ns() + TRY_NS;
	if (a->until > a->r->deadline_ns)
		a->until = a->r->deadline_ns;
}

/* One server, one question: 0 for an answer that can be used, NXDOMAIN included. */
static int ask_server(struct asking *a, struct dns_response *ret)
{
	int err;

	make_query(a);
	set_until(a);
	err = ask_udp(a, ret);
	if (!err && ret->flags & DNS_TC) {
		set_until(a);
		err = ask_tcp(a, ret);
	}
	if (!err && DNS_RCODE(ret->flags) != DNS_NOERROR && DNS_RCODE(ret->flags) != DNS_NXDOMAIN)
		err = -EREMOTEIO;
	return err;
}

/* @first: the server to begin with; the one that answered is left there. */
static int ask_all(struct asking *a, unsigned *first, struct dns_response *ret, const char *host, struct err_at *reterr)
{
	char server[ADDR_TEXT_MAX] = "";
	unsigned i, n;
	int err = -ETIMEDOUT;

	for (i = 0; i < a->r->count * a->rounds; i++) {
		n = (*first + i) % a->r->count;
		if (clock_fine_ns() >= a->r->deadline_ns)
			break;
		a->server = &a->r->servers[n];
		addr_text(a->server, server, sizeof(server));
		err = ask_server(a, ret);
		if (!err)
			*first = n;
		if (!err || err == -ECANCELED)
			return err ? err_why(reterr, err, "cancelled") : 0;
	}
	if (err == -EREMOTEIO)
		return err_why(reterr, err, "the name %s cannot be resolved: %s answers with rcode %u", host, server,
			       DNS_RCODE(ret->flags));
	return err_why(reterr, err, "the name %s cannot be resolved: no answer of %s%s%s%s", host,
		       a->r->count > 1 ? "any server, last " : "", server, *server ? ": " : "", strerror(-err));
}

static bool is_localhost(const char *host)
{
	size_t len = strlen(host), tail = strlen("localhost");

	if (len && host[len - 1] == '.')
		len--;
	return len >= tail && !strncasecmp(host + len - tail, "localhost", tail) &&
	       (len == tail || host[len - tail - 1] == '.');
}

static int loopback(struct addr *ret, unsigned max, unsigned *ret_count)
{
	*ret_count = max < 2 ? max : 2;
	addr_parse("127.0.0.1", 0, &ret[0]);
	if (max > 1)
		addr_parse("::1", 0, &ret[1]);
	return 0;
}

int lists_resolve(const struct lists_resolver *r, const char *host, struct addr *ret, unsigned max, unsigned *ret_count,
		  struct err_at *reterr)
{
	static const uint16_t types[] = { DNS_A, DNS_AAAA };
	struct dns_response answer;
	struct asking a = { .r = r };
	unsigned i, count = 0, first = 0;
	int len, err = 0;

	if (is_localhost(host))
		return loopback(ret, max, ret_count);
	len = dns_name_from_text(host, strlen(host), a.qname);
	if (len < 0)
		return err_why(reterr, -EINVAL, "\"%.100s\" is not a name", host);
	if (!r->count)
		return err_why(reterr, -EHOSTUNREACH, "the name %s cannot be resolved: there is no server to ask", host);
	a.qname_len = (uint16_t)len;
	for (i = 0; i < 2 && count < max; i++) {
		a.qtype = types[i];
		a.rounds = count ? 1 : ROUNDS;	/* some drop questions for AAAA: with an A there is less to wait for */
		err = ask_all(&a, &first, &answer, host, reterr);
		if (err)
			break;
		/* half the room for each family, so that neither keeps the other out */
		count += collect(&a, &answer, ret + count, i ? max - count : (max + 1) / 2);
		if (DNS_RCODE(answer.flags) == DNS_NXDOMAIN)
			break;
	}
	if (err == -ECANCELED || (err && !count))
		return err;
	if (!count)
		return err_why(reterr, -ENOENT, "the name %s %s", host,
			       DNS_RCODE(answer.flags) == DNS_NXDOMAIN ? "does not exist" : "has no address");
	*ret_count = count;
	return 0;
}
