/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule_pack.h - a rule as octets: to tell whether two are the same, and to
 * stand in the file of special rules.
 *
 * Integers are little-endian.  Conditions are put in order, so that the same
 * ones written in another order are the same octets.
 */
#ifndef POLICY_RULE_PACK_H
#define POLICY_RULE_PACK_H

#include "policy/rule.h"

#define RULE_PACK_MAX (256U << 10)

/**
 * Write what a rule says: all of it but $badfilter, its line and its text.
 *
 * @buf  of RULE_PACK_MAX octets
 *
 * Returns its length, or -EINVAL when the item is out of bounds.
 */
int rule_pack(const struct rule_item *item, uint8_t *buf);

/**
 * Read what rule_pack() wrote; everything in it is checked.
 *
 * @ret  borrows from @p, @condition and @answer
 *
 * Returns 0 or -EBADMSG.
 */
int rule_unpack(const uint8_t *p, size_t size, struct rule_condition *condition, struct rule_answer *answer,
		struct rule_item *ret);

/* The condition alone, in the same form; its length or -EINVAL. */
int rule_pack_condition(const struct rule_condition *c, uint8_t *buf);

#endif
