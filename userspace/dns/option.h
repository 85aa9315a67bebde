/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.h - options of EDNS (RFC 6891 section 6.1.2), and what client subnet
 * has in one (RFC 7871).
 */
#ifndef DNS_OPTION_H
#define DNS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_OPTION_ECS 8
#define DNS_ECS_MAX    20		/* family, two prefix lengths, 16 octets of an address */

/**
 * Find the first option of a kind among @options of @size octets, which fill their room exactly.
 *
 * Returns its data, or NULL when there is none.
 */
const uint8_t *dns_option_find(const uint8_t *options, size_t size, uint16_t code, uint16_t *ret_len);

/* The same in the OPT of a response; NULL also when it does not parse. */
const uint8_t *dns_option_find_in(const uint8_t *msg, size_t size, uint16_t code, uint16_t *ret_len);

/**
 * Append an option to the OPT that ends the message @msg of @len octets.
 *
 * @opt   offset of the OPT
 * @size  room at @msg
 *
 * Returns the new length; @len when there is no room, or the OPT does not end the message.
 */
size_t dns_option_add(uint8_t *msg, size_t len, size_t size, size_t opt, uint16_t code, const uint8_t *data, uint16_t n);

/* Where the OPT of a response begins, which is at its root; 0: it has none. */
size_t dns_option_opt(const uint8_t *msg, size_t size);

/**
 * Whether the data of a client's subnet option is as RFC 7871 section 6 has it:
 * a family that we know, no longer a prefix than its addresses, no scope, as
 * many octets as the prefix takes, and no bits behind it.
 */
bool dns_ecs_fine(const uint8_t *data, size_t len);

/* Whether the option of a response is about the subnet that the query named (section 7.3): all but the scope. */
bool dns_ecs_answers(const uint8_t *data, size_t len, const uint8_t *asked, size_t asked_len);

#endif
