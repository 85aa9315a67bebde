/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tz.h - the clock on the wall of a place: time zones of the IANA database.
 *
 * Reads the files of the system (RFC 9636) by itself: localtime() knows one
 * zone a process, and changing that one is not safe beside other threads.
 * Immutable once loaded; all times are seconds since 1970, UTC.
 */
#ifndef BASE_TZ_H
#define BASE_TZ_H

#include <stddef.h>
#include <stdint.h>

#define TZ_NAME_MAX 64			/* of a zone's name, its end included */
#define TZ_NEVER    INT64_MAX

struct tz;

/**
 * Load a zone.
 *
 * @name  "Europe/Berlin"; "" is the machine's: the variable TZ, else /etc/localtime, else UTC
 *
 * Returns 0 with a zone for tz_free(); -EINVAL when no zone can have that
 * name; -ENOENT when there is none; -EBADMSG when its file is no zone's (or
 * counts leap seconds, which our times do not); -ENOMEM; what reading a file gives.
 */
int tz_load(const char *name, struct tz **ret);

/* The same out of a file's octets; its errors are -EBADMSG and -ENOMEM. */
int tz_parse(const char *data, size_t size, struct tz **ret);

/* Takes NULL. */
void tz_free(struct tz *z);

/* How far the wall's clock is ahead of UTC at @t, in seconds. */
int32_t tz_offset(const struct tz *z, int64_t t);

/* The first instant after @t at which the wall's clock may jump; TZ_NEVER when there is none. */
int64_t tz_next(const struct tz *z, int64_t t);

#endif
