/* SPDX-License-Identifier: BSD-2-Clause */
/* bug.c - our own bugs. */
#define LOG_ROOM "bug"
#include <stdlib.h>
#include "base/bug.h"
#include "base/log.h"

void bug_report(const char *file, int line, const char *what)
{
	log_err("%s:%d: this must not be: %s; taking the safe way out", file, line, what);
	if (getenv("MR_STRICT"))
		abort();
}
