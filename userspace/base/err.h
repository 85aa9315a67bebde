/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * err.h - details of a failure: what, where, what was expected.
 *
 * Filled by whoever finds the fault, on failure only; read by whoever knows
 * what it means, who logs it once.  Errors themselves are negative errno.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err_at {
	char file[256];			/* "" when no file is to blame */
	unsigned line;			/* 0 when unknown */
	char key[96];			/* option, field or column; "" when none */
	char why[384];			/* what is wrong and what was expected */
};

/**
 * Fill in the reason; file, line and key stay as they are.
 *
 * @e may be NULL: then nothing happens.
 *
 * Returns @err, so that "return err_why(e, -EINVAL, ...)" reads well.
 */
int err_why(struct err_at *e, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/**
 * Say where: file (may be NULL), line (0: unknown) and key (may be NULL).
 */
void err_where(struct err_at *e, const char *file, unsigned line, const char *key);

/**
 * Write "file:line: key: why", without the parts that are unknown.
 *
 * Returns @buf.
 */
const char *err_text(const struct err_at *e, char *buf, unsigned long size);

#endif
