/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gunzip.h - unpacking gzip (RFC 1952) as it comes in, for the HTTP client.
 *
 * libcurl can unpack too, but takes a stream that ends in the middle for a
 * whole one; half a list must not pass for the list.
 */
#ifndef NET_GUNZIP_H
#define NET_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

struct gunzip;

/* Takes what was unpacked: 0, or a negative errno, which ends the unpacking. */
typedef int (*gunzip_sink)(void *arg, const char *p, size_t size);

/* Returns 0 or -ENOMEM. */
int gunzip_new(struct gunzip **ret);
void gunzip_free(struct gunzip *g);

/**
 * Unpack a piece; @sink gets it in parts of at most 16 KiB, so that a bound on
 * what is unpacked holds whatever the ratio.
 *
 * Returns 0; -EBADMSG when it is no gzip, or its check sum or length differs;
 * -ENOMEM; or the sink's error.
 */
int gunzip_feed(struct gunzip *g, const char *p, size_t size, gunzip_sink sink, void *arg);

/* True when the last member is complete, its check sum compared. */
bool gunzip_is_whole(const struct gunzip *g);

#endif
