/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lmdb_check.h - is a file of LMDB's whole?  Asked before LMDB maps it.
 *
 * LMDB trusts its file: a page that says what cannot be (a power cut while
 * nothing was synced, a bad disk) ends the process, or writes where it should
 * not.  So every page that is in use is looked at here first.
 */
#ifndef STORE_LMDB_CHECK_H
#define STORE_LMDB_CHECK_H

#include <stdint.h>
#include "base/err.h"

/**
 * Walk all pages that LMDB would reach in the file open at @fd.
 *
 * Only what this room writes is taken: one table without a name, whose keys are
 * octets and whose values are plain.
 *
 * Returns 0; -ENODATA for an empty file; -EPROTONOSUPPORT when it is no file of
 * LMDB's, or of a version that is not known here; -EBADMSG with @reterr when it
 * is damaged; -ENOMEM; the negative errno of a read.
 */
int lmdb_check(int fd, struct err_at *reterr);

#endif
