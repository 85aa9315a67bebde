/* SPDX-License-Identifier: BSD-2-Clause */
/* log.c - one line to standard error, written at once. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"

static enum log_level highest = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
	highest = level;
}

void log_line(enum log_level level, const char *room, const char *fmt, ...)
{
	static const char *const words[8] = { "", "", "", "error", "warning", "", "info", "debug" };
	char line[1024];
	va_list ap;
	int n;

	if (level > highest)
		return;
	/* JOURNAL_STREAM is set by the service manager: the level is then read from the prefix. */
	if (getenv("JOURNAL_STREAM"))
		n = snprintf(line, sizeof(line), "<%d>%s: ", level, room);
	else
		n = snprintf(line, sizeof(line), "%s: %s: ", words[level], room);
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return;			/* nobody is left to tell */
}

int log_may(struct log_limit *l, unsigned *ret_held_back)
{
	uint64_t now = clock_coarse_ns();

	if (now < l->next_ns) {
		l->held_back++;
		return 0;
	}
	*ret_held_back = l->held_back;
	l->held_back = 0;
	l->next_ns = now + 10 * CLOCK_S;
	return 1;
}
