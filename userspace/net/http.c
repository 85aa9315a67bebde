/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.c - the HTTP client, by libcurl.
 *
 * One handle a request: no state is shared between calls, so any thread may
 * call.  Only http and https are spoken, redirects are not followed.
 */
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "net/http.h"

#define CONNECT_TIMEOUT_MS 10000

struct exchange {
	const struct http_request *q;
	CURL *curl;
	size_t got;
	int err;			/* why we ended it ourselves */
};

static void init_once(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t on_body(char *p, size_t one, size_t size, void *arg)
{
	struct exchange *x = arg;
	long status = 0;

	x->got += size;
	if (x->q->body_max && x->got > x->q->body_max) {
		x->err = -EMSGSIZE;
		return 0;
	}
	curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	x->err = x->q->body ? x->q->body(x->q->arg, (unsigned)status, p, size) : 0;
	return x->err ? 0 : size;
}

/* What libcurl says, as errno. */
static int code_to_err(struct exchange *x, CURLcode code)
{
	long os = 0;

	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_WRITE_ERROR:
		return x->err ? x->err : -EIO;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(x->curl, CURLINFO_OS_ERRNO, &os);
		return os ? -(int)os : -ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EHOSTUNREACH;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	default:
		return -EPROTO;
	}
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
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(q->connect_timeout_ms ? q->connect_timeout_ms : CONNECT_TIMEOUT_MS));
	SET(CURLOPT_TIMEOUT_MS, (long)q->timeout_ms);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, x);
	SET(CURLOPT_USERAGENT, "millrace/" MR_VERSION);
	if (q->socket) {
		SET(CURLOPT_UNIX_SOCKET_PATH, q->socket);
		SET(CURLOPT_PROXY, "");		/* what is local stays local, whatever the environment says */
	}
	if (q->method && !strcmp(q->method, "POST"))
		SET(CURLOPT_POSTFIELDS, "");	/* this alone makes it a POST, with an empty body */
	else if (q->method && strcmp(q->method, "GET"))
		SET(CURLOPT_CUSTOMREQUEST, q->method);
#undef SET
	return code;
}

int http_ask(const struct http_request *q, unsigned *ret_status, struct err_at *reterr)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char said[CURL_ERROR_SIZE] = "";
	struct exchange x = { .q = q };
	CURLcode code;
	long status = 0;
	int err;

	pthread_once(&once, init_once);
	x.curl = curl_easy_init();
	if (!x.curl)
		return err_why(reterr, -ENOMEM, "out of memory");
	code = set_options(&x, said);
	if (code == CURLE_OK)
		code = curl_easy_perform(x.curl);
	err = code_to_err(&x, code);
	if (err == -EMSGSIZE)
		err_why(reterr, err, "the answer is longer than %zu bytes", q->body_max);
	else if (err)
		err_why(reterr, err, "%s", *said ? said : curl_easy_strerror(code));
	curl_easy_getinfo(x.curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(x.curl);
	if (!err)
		*ret_status = (unsigned)status;
	return err;
}

char *http_escape(const char *text, char *buf, size_t size)
{
	const unsigned char *p;
	size_t at = 0;

	for (p = (const unsigned char *)text; *p; p++) {
		if (at + 4 > size)
			return NULL;
		if (isascii(*p) && (isalnum(*p) || strchr("-._~", *p)))
			buf[at++] = (char)*p;
		else
			at += (size_t)snprintf(buf + at, size - at, "%%%02X", *p);
	}
	if (at >= size)
		return NULL;
	buf[at] = 0;
	return buf;
}
