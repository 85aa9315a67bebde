/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rebinding.h - addresses of the inside in answers from outside.
 *
 * A page of a public name that suddenly has the address of a printer may talk
 * to that printer (DNS rebinding).  Names of routes, and those of
 * upstreams.rebinding.allow, may have such addresses (docs/adr/0020).
 */
#ifndef RESOLVE_REBINDING_H
#define RESOLVE_REBINDING_H

#include "resolve/query.h"

/* Addresses of this machine, of private networks or of the link; @ip: IPv4 mapped, any kind of it. */
bool rebinding_is_inside(const uint8_t ip[16]);

/* Put "no data" in place of the answer that came from upstream, when it has such an address and may not. */
void rebinding_check(struct query *q, uint64_t now_ns);

#endif
