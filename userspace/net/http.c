/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.c - the HTTP client, by libcurl.
 *
 * One handle a request: no state is shared between calls, so any thread may
 * call.  Only http and https are spoken, redirects are not followed.
 */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "net/gunzip.h"
#include "net/http.h"

#define CONNECT_TIMEOUT_MS 10000
#define STALL_BPS          100
#define POLL_MS            1000
#define POLL_CANCEL_MS     100		/* so long may an end be waited for that was asked for */

struct exchange {
	const struct http_request *q;
	CURL *curl;
	struct curl_slist *headers, *resolve;
	struct gunzip *gunzip;
	bool begun;			/* the body did */
	size_t got;
	int err;			/* why we ended it ourselves */
};

static void init_once(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static unsigned status_of(struct exchange *x)
{
	long status = 0;

	curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	return (unsigned)status;
}

/* A piece of the body as the asker sees it. */
static int give(void *arg, const char *p, size_t size)
{
	struct exchange *x = arg;

	x->got += size;
	if (x->q->body_max && x->got > x->q->body_max)
		return -EMSGSIZE;
	return x->q->body ? x->q->body(x->q->arg, status_of(x), p, size) : 0;
}

static const char *header(struct exchange *x, const char *name)
{
	struct curl_header *h;

	return curl_easy_header(x->curl, name, 0, CURLH_HEADER, -1, &h) ? NULL : h->value;
}

/* Before the first piece: is it packed? */
static int begin(struct exchange *x)
{
	const char *how = x->q->gzip ? header(x, "Content-Encoding") : NULL;

	x->begun = true;
	if (!how || !*how || !strcasecmp(how, "identity"))
		return 0;
	if (strcasecmp(how, "gzip") && strcasecmp(how, "x-gzip"))
		return -EPROTONOSUPPORT;
	return gunzip_new(&x->gunzip);
}

static size_t on_body(char *p, size_t one, size_t size, void *arg)
{
	struct exchange *x = arg;

	if (!x->begun)
		x->err = begin(x);
	if (!x->err)
		x->err = x->gunzip ? gunzip_feed(x->gunzip, p, size, give, x) : give(x, p, size);
	return x->err ? 0 : size;
}

/* libcurl asks it before it looks a name up: that the addresses are given is checked, so this is the second lock. */
static int on_resolve(void *state, void *reserved, void *arg)
{
	return 1;
}

/* What libcurl says, as errno. */
static int code_to_err(struct exchange *x, CURLcode code)
{
	long os = 0;

	switch (code) {
	case CURLE_OK:
		return x->gunzip && !gunzip_is_whole(x->gunzip) ? -EBADMSG : 0;
	case CURLE_WRITE_ERROR:
	case CURLE_ABORTED_BY_CALLBACK:
		return x->err ? x->err : -EIO;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(x->curl, CURLINFO_OS_ERRNO, &os);
		return os ? -(int)os : -ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EHOSTUNREACH;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_FILESIZE_EXCEEDED:
		return -EMSGSIZE;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return -EKEYREJECTED;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	default:
		return -EPROTO;
	}
}

static int append(struct curl_slist **list, const char *text)
{
	struct curl_slist *longer = curl_slist_append(*list, text);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int make_headers(struct exchange *x)
{
	const char *const *h;
	int err = x->q->gzip ? append(&x->headers, "Accept-Encoding: gzip") : 0;

	for (h = x->q->headers; h && *h && !err; h++)
		err = append(&x->headers, *h);
	return err;
}

/* "host:port:address,address": libcurl takes these and asks nobody. */
static int make_resolve(struct exchange *x, struct err_at *reterr)
{
	char row[HTTP_HOST_MAX + 8 + HTTP_ADDRS_MAX * ADDR_TEXT_MAX], text[ADDR_TEXT_MAX];
	struct http_url u;
	struct addr a;
	unsigned i;
	size_t at;
	int err;

	err = http_url_read(x->q->url, &u, reterr);
	if (err || u.is_addr)
		return err;
	if (!x->q->addr_count || x->q->addr_count > HTTP_ADDRS_MAX)
		return err_why(reterr, -EHOSTUNREACH, "no address is given for the host %s", u.host);
	at = (size_t)snprintf(row, sizeof(row), "%s:%u:", u.host, u.port);
	for (i = 0; i < x->q->addr_count; i++) {
		a = x->q->addrs[i];
		a.port = 0;
		addr_text(&a, text, sizeof(text));
		at += (size_t)snprintf(row + at, sizeof(row) - at, "%s%s", i ? "," : "", text);
	}
	err = append(&x->resolve, row);
	return err ? err_why(reterr, err, "out of memory") : 0;
}

static CURLcode set_options(struct exchange *x, char *said)
{
	const struct http_request *q = x->q;
	CURLcode code = CURLE_OK;

#define SET(option, value)                                                 \
	do {                                                               \
		if (code == CURLE_OK)                                      \
			code = curl_easy_setopt(x->curl, option, value);   \
	} while (0)
	SET(CURLOPT_ERRORBUFFER, said);
	SET(CURLOPT_NOSIGNAL, 1L);		/* a time-out must not interrupt other threads */
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_URL, q->url);
	SET(CURLOPT_PROXY, "");			/* whatever the environment says */
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(q->connect_timeout_ms ? q->connect_timeout_ms : CONNECT_TIMEOUT_MS));
	SET(CURLOPT_TIMEOUT_MS, (long)q->timeout_ms);
	SET(CURLOPT_LOW_SPEED_LIMIT, q->stall_s ? (long)STALL_BPS : 0L);
	SET(CURLOPT_LOW_SPEED_TIME, (long)q->stall_s);
	SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)q->body_max);	/* as announced; what comes is counted */
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, x);
	SET(CURLOPT_USERAGENT, "millrace/" MR_VERSION);
	SET(CURLOPT_HTTPHEADER, x->headers);
	SET(CURLOPT_RESOLVE, x->resolve);
	if (q->socket)
		SET(CURLOPT_UNIX_SOCKET_PATH, q->socket);
	else if (x->resolve)
		SET(CURLOPT_RESOLVER_START_FUNCTION, on_resolve);
	if (q->ca_file) {
		SET(CURLOPT_CAINFO, q->ca_file);
		SET(CURLOPT_CAPATH, NULL);
	}
	if (q->content || (q->method && !strcmp(q->method, "POST"))) {
		/* This alone makes it a POST, if only with an empty body. */
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(q->content ? q->content_size : 0));
		SET(CURLOPT_POSTFIELDS, q->content ? q->content : "");
	}
	if (q->method && strcmp(q->method, "GET") && strcmp(q->method, "POST"))
		SET(CURLOPT_CUSTOMREQUEST, q->method);
#undef SET
	return code;
}

/* curl_easy_perform(), but for being cancelled within a moment also when nothing comes. */
static CURLcode perform(struct exchange *x)
{
	int left = 0, running = 0, wait = x->q->cancelled ? POLL_CANCEL_MS : POLL_MS;
	CURLM *multi = curl_multi_init();
	CURLcode code = CURLE_OUT_OF_MEMORY;
	struct CURLMsg *m;
	CURLMcode bad;

	if (!multi)
		return code;
	bad = curl_multi_add_handle(multi, x->curl);
	for (running = !bad; running && !bad;) {
		if (x->q->cancelled && x->q->cancelled(x->q->arg)) {
			x->err = -ECANCELED;
			code = CURLE_ABORTED_BY_CALLBACK;
			goto out;
		}
		bad = curl_multi_perform(multi, &running);
		if (!bad && running)
			bad = curl_multi_poll(multi, NULL, 0, wait, NULL);
	}
	m = bad ? NULL : curl_multi_info_read(multi, &left);
	if (m)
		code = m->data.result;
out:
	curl_multi_remove_handle(multi, x->curl);
	curl_multi_cleanup(multi);
	return code;
}

static void fill_wants(struct exchange *x)
{
	const char *value;
	unsigned i;

	for (i = 0; i < x->q->want_count; i++) {
		const struct http_want *w = &x->q->wants[i];

		value = x->curl ? header(x, w->name) : NULL;
		snprintf(w->value, w->size, "%s", value && strlen(value) < w->size ? value : "");
	}
}

static void say(struct exchange *x, int err, CURLcode code, const char *said, struct err_at *reterr)
{
	const char *how;

	if (err == -EMSGSIZE)
		err_why(reterr, err, "the answer is longer than %zu bytes", x->q->body_max);
	else if (err == -EBADMSG && x->gunzip)
		err_why(reterr, err, "the gzip stream is damaged or cut short");
	else if (err == -EPROTONOSUPPORT && (how = header(x, "Content-Encoding")))
		err_why(reterr, err, "the answer is packed as \"%s\", which was not offered", how);
	else if (err == -ECANCELED)
		err_why(reterr, err, "cancelled");
	else if (err)
		err_why(reterr, err, "%s", *said ? said : curl_easy_strerror(code));
}

int http_ask(const struct http_request *q, unsigned *ret_status, struct err_at *reterr)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char said[CURL_ERROR_SIZE] = "";
	struct exchange x = { .q = q };
	CURLcode code;
	int err;

	pthread_once(&once, init_once);
	fill_wants(&x);
	err = q->socket ? 0 : make_resolve(&x, reterr);
	if (err)
		goto out;
	x.curl = curl_easy_init();
	if (!x.curl || make_headers(&x)) {
		err = err_why(reterr, -ENOMEM, "out of memory");
		goto out;
	}
	code = set_options(&x, said);
	if (code == CURLE_OK)
		code = perform(&x);
	err = code_to_err(&x, code);
	say(&x, err, code, said, reterr);
	fill_wants(&x);
	if (!err)
		*ret_status = status_of(&x);
out:
	curl_easy_cleanup(x.curl);
	curl_slist_free_all(x.headers);
	curl_slist_free_all(x.resolve);
	gunzip_free(x.gunzip);
	return err;
}
