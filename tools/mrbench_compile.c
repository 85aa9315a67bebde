/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "tools/mrbench_user.h"
int bench_compile(struct bench_report *r, struct err_at *reterr) { return -ENOSYS; }
