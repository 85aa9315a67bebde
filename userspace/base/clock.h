/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - the clocks; only rooms with I/O ask them, the core is given a now.
 *
 * Times are nanoseconds in 64 bits.  "Coarse" is CLOCK_MONOTONIC_COARSE, the
 * clock that the packet path reads too: all times in maps are of this clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_MS 1000000ULL
#define CLOCK_S  1000000000ULL

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * CLOCK_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_coarse_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

/* Exact, for measuring. */
static inline uint64_t clock_fine_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* How far the boot clock is ahead of the monotonic one: it grows by the time spent suspended. */
static inline uint64_t clock_suspended_ns(void)
{
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC);	/* the one behind first: never a difference below 0 */

	return clock_ns(CLOCK_BOOTTIME) - monotonic;
}

#endif
