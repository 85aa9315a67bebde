/* SPDX-License-Identifier: BSD-2-Clause */
/* http_url.c - URLs taken apart and joined, by libcurl, so that they mean what they mean to it. */
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net/http.h"

/* A part of the URL into @buf; an absent one is "". */
static int part(CURLU *u, CURLUPart what, unsigned flags, char *buf, size_t size)
{
	char *text = NULL;
	CURLUcode code = curl_url_get(u, what, &text, flags);
	int err = 0;

	if (code == CURLUE_OUT_OF_MEMORY)
		err = -ENOMEM;
	else if (!code && strlen(text) >= size)
		err = -EINVAL;
	else
		snprintf(buf, size, "%s", code ? "" : text);
	curl_free(text);
	return err;
}

static int host(CURLU *u, struct http_url *r)
{
	size_t len;
	int err = part(u, CURLUPART_HOST, CURLU_PUNYCODE, r->host, sizeof(r->host));

	len = strlen(r->host);
	if (err || !len)
		return err ? err : -EINVAL;
	if (*r->host == '[') {
		memmove(r->host, r->host + 1, len);
		r->host[len - 2] = '\0';
	}
	r->is_addr = addr_parse(r->host, 0, &r->addr) == 0;
	return 0;
}

static int port(CURLU *u, struct http_url *r)
{
	char text[16];
	int err = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, text, sizeof(text));

	r->port = (uint16_t)atoi(text);
	return err || !r->port ? err ? err : -EINVAL : 0;
}

/* The path is cut where the room ends: it is for people. */
static int shown(CURLU *u, struct http_url *r)
{
	bool v6 = r->is_addr && !addr_is_v4(&r->addr);
	char at[16] = "", *path = NULL;

	if (curl_url_get(u, CURLUPART_PATH, &path, 0))
		return -ENOMEM;
	if (r->port != (r->tls ? 443 : 80))
		snprintf(at, sizeof(at), ":%u", r->port);
	snprintf(r->shown, sizeof(r->shown), "%s://%s%s%s%s%.200s", r->tls ? "https" : "http", v6 ? "[" : "", r->host,
		 v6 ? "]" : "", at, path);
	curl_free(path);
	return 0;
}

int http_url_read(const char *url, struct http_url *ret, struct err_at *reterr)
{
	CURLU *u = curl_url();
	char scheme[32] = "";
	CURLUcode code;
	int err = u ? 0 : -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	if (err)
		goto out;
	code = strlen(url) < HTTP_URL_MAX ? curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) :
					    CURLUE_MALFORMED_INPUT;
	if (code) {
		err = code == CURLUE_OUT_OF_MEMORY ? -ENOMEM :
		      err_why(reterr, -EINVAL, "not an URL: %s", curl_url_strerror(code));
		goto out;
	}
	err = part(u, CURLUPART_SCHEME, 0, scheme, sizeof(scheme));
	ret->tls = !strcmp(scheme, "https");
	if (!err && !ret->tls && strcmp(scheme, "http")) {
		err = err_why(reterr, -EINVAL, "the scheme is \"%s\", expected http or https", scheme);
		goto out;
	}
	err = err ? err : host(u, ret);
	err = err ? err : port(u, ret);
	err = err ? err : shown(u, ret);
	if (err == -EINVAL)
		err_why(reterr, err, "an URL whose host or port is none");
out:
	if (err == -ENOMEM)
		err_why(reterr, err, "out of memory");
	curl_url_cleanup(u);
	return err;
}

int http_url_join(const char *base, const char *location, char *ret)
{
	CURLU *u = curl_url();
	char *text = NULL;
	CURLUcode code;
	int err = 0;

	if (!u)
		return -ENOMEM;
	code = curl_url_set(u, CURLUPART_URL, base, 0);
	if (!code)		/* a scheme that is not spoken is for http_url_read() to name */
		code = curl_url_set(u, CURLUPART_URL, location, CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE);
	if (!code)
		code = curl_url_get(u, CURLUPART_URL, &text, 0);
	if (code)
		err = code == CURLUE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
	else if (strlen(text) >= HTTP_URL_MAX)
		err = -EINVAL;
	else
		snprintf(ret, HTTP_URL_MAX, "%s", text);
	curl_free(text);
	curl_url_cleanup(u);
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
