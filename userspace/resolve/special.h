/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * special.h - names that are answered here and asked of nobody
 * (docs/adr/0020).
 *
 * They say nothing outside of this machine or network (RFC 6761, 6303, 7686,
 * 7793, 8375, 9462): forwarded they would tell strangers what is asked inside,
 * and get answers that strangers made.  A route, or upstreams.forward_special,
 * takes a zone out.  Their answers are made anew each time: neither the cache
 * nor the packet path keeps them.
 */
#ifndef RESOLVE_SPECIAL_H
#define RESOLVE_SPECIAL_H

#include "resolve/steps.h"

/* Answer the question when its name is special; else the rows below go on. */
enum step_result special_name(struct query *q, uint64_t now_ns);

/*
 * Answer a question of class CH: version.bind and its like get what server.version and server.identity say.
 * Returns false when there is nothing to say.
 */
bool special_chaos(struct query *q, uint64_t now_ns);

#endif
