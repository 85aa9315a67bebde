/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * layout.c - asserts that both compilers lay the treaty out alike.
 *
 * Compiled by gcc into the daemon and, through bpf/fastpath.bpf.c, by clang
 * for BPF.  A size that changes here changes what is pinned: kern_layout_hash()
 * covers it, so old pins are not taken over.
 */
#include "maps/types.h"
#include "maps/name.h"
#include "maps/filter.h"
#include "maps/answer.h"
#include "maps/block.h"
#include "maps/client.h"
#include "maps/config.h"
#include "maps/ede.h"
#include "maps/event.h"
#include "maps/stats.h"
#include "maps/why.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the layouts of maps/ are little-endian"
#endif

#define SIZE(type, n)       _Static_assert(sizeof(type) == (n), #type " has changed its size")
#define AT(type, member, n) _Static_assert(__builtin_offsetof(type, member) == (n), #type "." #member " has moved")

SIZE(struct mr_secret, 568);
SIZE(struct mr_filter_bucket, 64);
SIZE(struct mr_verdict, 8);
SIZE(struct mr_answer_bucket, 64);
SIZE(struct mr_answer, 128);
AT(struct mr_answer, born, 16);
AT(struct mr_answer, body_sum, 64);
AT(struct mr_answer, ttl_at, 72);
SIZE(struct mr_client_bucket, 64);
SIZE(struct mr_event, 304);
AT(struct mr_event, name, 48);
SIZE(struct mr_outcome, 4);
SIZE(struct mr_group, 48);
AT(struct mr_group, nodata, 32);
SIZE(struct mr_unit, 312);
SIZE(struct mr_conf, 8128);
AT(struct mr_conf, group, 336);
SIZE(struct mr_ede, 64);
SIZE(struct mr_rr_a, 16);
SIZE(struct mr_rr_aaaa, 28);
SIZE(struct mr_rr_soa, 34);
SIZE(struct mr_opt, 11);
SIZE(struct mr_why, 72);
