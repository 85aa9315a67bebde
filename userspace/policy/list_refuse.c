/* SPDX-License-Identifier: BSD-2-Clause */
/* list_refuse.c - tells what cannot be a list by how it begins, and by what is in it. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include "policy/list_line.h"

#define LOOK 1024
#define CONTROLS_MAX 32			/* of the octets looked at; more is no text */

/* Beginnings that say what a file is. */
static const struct {
	const char *magic;
	size_t len;
	const char *why;
} magics[] = {
#define MAGIC(bytes, why) { bytes, sizeof(bytes) - 1, why }
	MAGIC("\x1f\x8b", "it is compressed (gzip)"),
	MAGIC("\x1f\x9d", "it is compressed (compress)"),
	MAGIC("BZh9", "it is compressed (bzip2)"),
	MAGIC("\xfd" "7zXZ", "it is compressed (xz)"),
	MAGIC("\x28\xb5\x2f\xfd", "it is compressed (zstd)"),
	MAGIC("PK\x03\x04", "it is compressed (zip)"),
	MAGIC("7z\xbc\xaf", "it is compressed (7z)"),
	MAGIC("\x7f" "ELF", "it is a program"),
	MAGIC("%PDF", "it is a PDF document"),
	MAGIC("\x89PNG", "it is a picture"),
	MAGIC("GIF8", "it is a picture"),
	MAGIC("\xff\xd8\xff", "it is a picture"),
	MAGIC("\xff\xfe", "it is UTF-16, not UTF-8"),
	MAGIC("\xfe\xff", "it is UTF-16, not UTF-8"),
#undef MAGIC
};

/* The first thing that is not a blank or a comment of HTML. */
static bool is_page(struct list_span s)
{
	static const char *const starts[] = { "<!doctype", "<html", "<head", "<body", "<?xml", "<script", "<meta", "<title" };
	unsigned i;

	if (list_starts(s, "\xef\xbb\xbf"))
		s.p += 3;
	for (;;) {
		while (s.p < s.end && (list_is_blank(*s.p) || *s.p == '\r' || *s.p == '\n'))
			s.p++;
		if (!list_starts(s, "<!--"))
			break;
		s.p = memmem(s.p, list_size(s), "-->", 3);
		if (!s.p)
			return true;
		s.p += 3;
	}
	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (list_size(s) >= strlen(starts[i]) && !strncasecmp(s.p, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* An object, or an array of objects or texts: what servers say when they have no list. */
static bool is_json(struct list_span s)
{
	bool array;

	while (s.p < s.end && (list_is_blank(*s.p) || *s.p == '\r' || *s.p == '\n'))
		s.p++;
	array = s.p < s.end && *s.p == '[';
	if (s.p == s.end || (*s.p != '{' && !array))
		return false;
	for (s.p++; s.p < s.end && (list_is_blank(*s.p) || *s.p == '\r' || *s.p == '\n'); s.p++)
		;
	return s.p < s.end && (*s.p == '"' || (*s.p == '{' && array) || (*s.p == '}' && !array));
}

static bool is_text(struct list_span s)
{
	unsigned controls = 0;

	for (; s.p < s.end; s.p++) {
		if (!*s.p)
			return false;
		controls += (unsigned char)*s.p < ' ' && !strchr("\t\r\n\f", *s.p);
	}
	return controls <= CONTROLS_MAX;
}

const char *list_refuse(const char *text, size_t size)
{
	struct list_span s = { text, text + (size < LOOK ? size : LOOK) };
	unsigned i;

	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (size >= magics[i].len && !memcmp(text, magics[i].magic, magics[i].len))
			return magics[i].why;
	if (is_page(s))
		return "it is an HTML page";
	if (is_json(s))
		return "it is JSON";
	if (!is_text(s))
		return "it is not text";
	return NULL;
}

/* ---- the whole ---- */

static int stop(void *arg, const struct rule_item *item)
{
	return -ECANCELED;
}

/* Lines of which it is known what they are, though the filter cannot use them. */
static bool is_known(unsigned why)
{
	return why == LIST_SKIP_local_name || why == LIST_SKIP_cosmetic || why == LIST_SKIP_path ||
	       why == LIST_SKIP_modifier || why == LIST_SKIP_rewrite || why == LIST_SKIP_trigger ||
	       why == LIST_SKIP_statement;
}

const char *list_refuse_whole(const char *text, size_t size, enum list_format format)
{
	struct list_report *r;
	uint64_t known = 0, junk = 0;
	unsigned i;

	if (size && memchr(text, '\0', size))
		return "it is not text";
	r = calloc(1, sizeof(*r));
	/* the first rule ends it */
	if (r && list_parse(text, size, format, false, stop, NULL, r) == 0)
		for (i = LIST_SKIP_empty + 1; i < LIST_SKIP_COUNT; i++)
			*(is_known(i) ? &known : &junk) += r->skipped[i];
	free(r);
	return junk && !known ? "none of its lines is a rule" : NULL;
}
