/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bug.h - our own bugs: said once with file and line, then the safe way out.
 *
 * In tests (MR_STRICT in the environment) a bug ends the process.
 */
#ifndef BASE_BUG_H
#define BASE_BUG_H

#include <stdbool.h>

/* Report a bug at a place, once a place; aborts under MR_STRICT. */
void bug_report(const char *file, int line, const char *what);

#define bug_if(x)                                                       \
	({                                                              \
		bool bug_ = (x);                                        \
		static bool said_;                                      \
		if (__builtin_expect(bug_, 0) && !said_) {              \
			said_ = true;                                   \
			bug_report(__FILE__, __LINE__, #x);             \
		}                                                       \
		bug_;                                                   \
	})

#endif
