/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tz.c - zone files: jumps up to some year as a table, those behind as a rule.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/tz.h"
#include "base/tz_rule.h"

#define FOLDER    "/usr/share/zoneinfo/"
#define LOCALTIME "/etc/localtime"
#define SIZE_MAX_FILE (256U << 10)
#define HEADER    44
#define JUMPS_MAX 20000
#define TYPES_MAX 256
#define DAY_S     86400

struct jump {
	int64_t at;
	int32_t offset;			/* from then on */
};

struct tz {
	int32_t first;			/* offset before all jumps */
	struct jump *jump;		/* in the order of time */
	unsigned jumps;
	bool has_rule;			/* for what is behind the last jump */
	struct tz_rule rule;
};

/* ---- a file's octets ---- */

/* The counts of a header (RFC 9636 section 3.1). */
struct header {
	uint32_t isut, isstd, leap, time, type, chars;
};

static uint32_t get32(const char *p)
{
	const uint8_t *u = (const uint8_t *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static int64_t get_time(const char *p, unsigned width)
{
	if (width == 4)
		return (int32_t)get32(p);
	return (int64_t)((uint64_t)get32(p) << 32 | get32(p + 4));
}

static bool read_header(const char *data, size_t size, struct header *ret)
{
	if (size < HEADER || memcmp(data, "TZif", 4))
		return false;
	*ret = (struct header){
		.isut = get32(data + 20), .isstd = get32(data + 24), .leap = get32(data + 28),
		.time = get32(data + 32), .type = get32(data + 36), .chars = get32(data + 40),
	};
	return ret->time <= JUMPS_MAX && ret->type && ret->type <= TYPES_MAX && ret->chars <= TYPES_MAX &&
	       ret->isut <= ret->type && ret->isstd <= ret->type && ret->leap <= JUMPS_MAX;
}

static size_t block_size(const struct header *h, unsigned width)
{
	return h->time * (width + 1) + h->type * 6 + h->chars + h->leap * (width + 4) + h->isstd + h->isut;
}

/* The jumps of a data block whose times have @width octets. */
static int read_block(const char *p, const struct header *h, unsigned width, struct tz *z)
{
	const char *index = p + (size_t)h->time * width, *types = index + h->time;
	unsigned i, type;

	for (i = 0; i < h->type; i++)
		if ((int32_t)get32(types + i * 6) <= -2 * DAY_S || (int32_t)get32(types + i * 6) >= 2 * DAY_S)
			return -EBADMSG;
	z->first = (int32_t)get32(types);
	z->jump = calloc(h->time + 1, sizeof(*z->jump));
	if (!z->jump)
		return -ENOMEM;
	for (i = 0; i < h->time; i++) {
		type = (uint8_t)index[i];
		z->jump[i].at = get_time(p + (size_t)i * width, width);
		if (type >= h->type || (i && z->jump[i].at <= z->jump[i - 1].at))
			return -EBADMSG;
		z->jump[i].offset = (int32_t)get32(types + type * 6);
	}
	z->jumps = h->time;
	return 0;
}

/* The rule behind the second data block: a text between two ends of lines. */
static int read_footer(const char *p, size_t size, struct tz *z)
{
	char text[128];
	const char *end;
	size_t len;

	if (size < 2 || p[0] != '\n')
		return -EBADMSG;
	end = memchr(p + 1, '\n', size - 1);
	len = end ? (size_t)(end - p) - 1 : sizeof(text);
	if (len >= sizeof(text))
		return -EBADMSG;
	memcpy(text, p + 1, len);
	text[len] = '\0';
	if (!len)
		return 0;
	z->has_rule = true;
	return tz_rule_parse(text, &z->rule);
}

static int read_file(const char *data, size_t size, struct tz *z)
{
	unsigned width = 4;
	struct header h;
	size_t used;
	int err;

	if (!read_header(data, size, &h) || block_size(&h, 4) > size - HEADER)
		return -EBADMSG;
	/* From version 2 on everything is there once more, with times of eight octets. */
	if (data[4] >= '2') {
		used = HEADER + block_size(&h, 4);
		data += used;
		size -= used;
		width = 8;
		if (!read_header(data, size, &h) || block_size(&h, 8) > size - HEADER)
			return -EBADMSG;
	}
	if (h.leap)
		return -EBADMSG;
	err = read_block(data + HEADER, &h, width, z);
	used = HEADER + block_size(&h, width);
	return err || width == 4 ? err : read_footer(data + used, size - used, z);
}

int tz_parse(const char *data, size_t size, struct tz **ret)
{
	struct tz *z = calloc(1, sizeof(*z));
	int err = z ? read_file(data, size, z) : -ENOMEM;

	if (err)
		tz_free(z);
	else
		*ret = z;
	return err;
}

void tz_free(struct tz *z)
{
	if (!z)
		return;
	free(z->jump);
	free(z);
}

/* ---- by name ---- */

static int load_file(const char *path, struct tz **ret)
{
	size_t size;
	char *data;
	int err = file_read(path, SIZE_MAX_FILE, &data, &size);

	if (err)
		return err == -ENOTDIR ? -ENOENT : err == -EISDIR ? -EBADMSG : err;
	err = tz_parse(data, size, ret);
	free(data);
	return err;
}

static int load_name(const char *name, struct tz **ret)
{
	char path[sizeof(FOLDER) + TZ_NAME_MAX] = FOLDER;

	if (strlen(name) >= TZ_NAME_MAX || *name == '/' || *name == '.' || strstr(name, "/.") ||
	    name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/.")])
		return -EINVAL;
	strcat(path, name);
	return load_file(path, ret);
}

/* A zone without jumps in a table: "CET-1CEST,M3.5.0,M10.5.0/3" as TZ may hold it. */
static int load_rule(const char *text, struct tz **ret)
{
	struct tz *z = calloc(1, sizeof(*z));
	int err = z ? tz_rule_parse(text, &z->rule) : -ENOMEM;

	if (err) {
		tz_free(z);
		return err;
	}
	z->has_rule = true;
	*ret = z;
	return 0;
}

static int load_machine(struct tz **ret)
{
	const char *text = getenv("TZ");
	int err;

	if (!text) {
		err = load_file(LOCALTIME, ret);
		return err == -ENOENT ? load_rule("UTC0", ret) : err;
	}
	if (*text == ':')
		text++;
	if (!*text)
		return load_rule("UTC0", ret);
	if (*text == '/')
		return load_file(text, ret);
	err = load_name(text, ret);
	return err && err != -ENOMEM ? load_rule(text, ret) : err;
}

int tz_load(const char *name, struct tz **ret)
{
	return *name ? load_name(name, ret) : load_machine(ret);
}

/* ---- looking up ---- */

/* How many jumps are at or before @t. */
static unsigned jumps_until(const struct tz *z, int64_t t)
{
	unsigned low = 0, high = z->jumps, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (z->jump[mid].at <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int32_t tz_offset(const struct tz *z, int64_t t)
{
	unsigned n = jumps_until(z, t);

	if (n == z->jumps && z->has_rule)
		return tz_rule_offset(&z->rule, t);
	return n ? z->jump[n - 1].offset : z->first;
}

int64_t tz_next(const struct tz *z, int64_t t)
{
	unsigned n = jumps_until(z, t);

	if (n < z->jumps)
		return z->jump[n].at;
	return z->has_rule ? tz_rule_next(&z->rule, t) : TZ_NEVER;
}
