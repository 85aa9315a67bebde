/* SPDX-License-Identifier: BSD-2-Clause */
/* gunzip.c - unpacking gzip, by zlib. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include "net/gunzip.h"

#define PART   16384
#define IS_GZIP (15 + 16)		/* windowBits: the largest window; gzip only, no bare zlib */

struct gunzip {
	z_stream z;
	bool whole;
	unsigned char part[PART];
};

int gunzip_new(struct gunzip **ret)
{
	struct gunzip *g = calloc(1, sizeof(*g));

	if (!g || inflateInit2(&g->z, IS_GZIP) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

void gunzip_free(struct gunzip *g)
{
	if (!g)
		return;
	inflateEnd(&g->z);
	free(g);
}

int gunzip_feed(struct gunzip *g, const char *p, size_t size, gunzip_sink sink, void *arg)
{
	int code, err;

	g->z.next_in = (unsigned char *)(uintptr_t)p;
	g->z.avail_in = (unsigned)size;
	while (g->z.avail_in || !g->z.avail_out) {
		if (g->whole && !g->z.avail_in)
			break;
		if (g->whole)			/* another member follows (RFC 1952 section 2.2) */
			inflateReset(&g->z);
		g->whole = false;
		g->z.next_out = g->part;
		g->z.avail_out = PART;
		code = inflate(&g->z, Z_NO_FLUSH);
		if (code == Z_MEM_ERROR)
			return -ENOMEM;
		if (code == Z_BUF_ERROR)
			break;			/* neither input nor output is left: no error, nothing to do */
		if (code != Z_OK && code != Z_STREAM_END)
			return -EBADMSG;
		g->whole = code == Z_STREAM_END;
		err = g->z.avail_out < PART ? sink(arg, (char *)g->part, PART - g->z.avail_out) : 0;
		if (err)
			return err;
	}
	return 0;
}

bool gunzip_is_whole(const struct gunzip *g)
{
	return g->whole;
}
