/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h - the log: one line to standard error, the room in front.
 *
 * A file that logs defines LOG_ROOM before including this.  Only control,
 * server, api and main log above debug; rooms below return errors.  With
 * journald behind standard error the level goes in front as <N>.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERR = 3,		/* an operator must act */
	LOG_LEVEL_WARN = 4,		/* we went on without something */
	LOG_LEVEL_INFO = 6,		/* a change of state */
	LOG_LEVEL_DEBUG = 7,
};

/* Set the highest level that is written; the default is INFO. */
void log_set_level(enum log_level level);

/* Write one line. */
void log_line(enum log_level level, const char *room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* State of one place that may want to speak too often; zero to begin with. */
struct log_limit {
	uint64_t next_ns;
	unsigned held_back;
};

/* True when a place may speak now: at most once in ten seconds; counts what was held back. */
int log_may(struct log_limit *l, unsigned *ret_held_back);

#define log_err(...)   log_line(LOG_LEVEL_ERR, LOG_ROOM, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, LOG_ROOM, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, LOG_ROOM, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, LOG_ROOM, __VA_ARGS__)

/* A warning that may repeat: once in ten seconds a place. */
#define log_limited(fmt, ...)                                                                   \
	do {                                                                                    \
		static __thread struct log_limit limit_;                                        \
		unsigned held_;                                                                 \
		if (log_may(&limit_, &held_))                                                   \
			log_warn(fmt " (%u more held back)", ##__VA_ARGS__, held_);              \
	} while (0)

#endif
