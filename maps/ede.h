/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ede.h - the name of a list as a blocked answer says it.
 *
 * Extended DNS Error 15 with the list's name as its text (RFC 8914), rendered
 * once per source and copied by words into answers.  Number of the source and
 * mr_unit.ede_base make the element of mr_ede, so that the names change with the
 * filter whose verdicts hold their numbers.
 *
 * Written by userspace/kern, read by bpf/reply.h and by the daemon.
 */
#ifndef MAPS_EDE_H
#define MAPS_EDE_H

#include "maps/answer.h"

#define MR_LISTS_MAX     1024		/* sources: lists and rule sets */
#define MR_EDE_TEXT_MAX  40		/* octets; longer names are cut */
#define MR_EDE_WORDS     7
#define MR_EDE_STALE     3		/* Stale Answer */
#define MR_EDE_BLOCKED   15
#define MR_EDE_STALE_NXDOMAIN 19

/* What stands behind the first eight octets of our OPT, which hold DO: one zero, RDLEN, the option. */
struct mr_ede {
	__u32 len;			/* octets; 0: there is no text */
	__u32 sum;			/* mr_sum_fold() of the words */
	__u64 word[MR_EDE_WORDS];
};

/**
 * Render the option with a name as its text, on the host.
 *
 * @name  UTF-8; it is cut at MR_EDE_TEXT_MAX octets, between two characters
 *
 * No name makes no text.
 */
MR_INLINE void mr_ede_render(struct mr_ede *e, const char *name)
{
	__u8 octets[8 * MR_EDE_WORDS] = { 0 };
	__u32 len = 0, i;
	__u64 sum = 0;

	while (name[len] && len <= MR_EDE_TEXT_MAX)
		len++;
	if (len > MR_EDE_TEXT_MAX)
		for (len = MR_EDE_TEXT_MAX; len && (name[len] & 0xc0) == 0x80;)
			len--;
	octets[2] = (__u8)(6 + len);
	octets[4] = 15;
	octets[6] = (__u8)(2 + len);
	octets[8] = MR_EDE_BLOCKED;
	for (i = 0; i < len; i++)
		octets[9 + i] = (__u8)name[i];
	for (i = 0; i < MR_EDE_WORDS; i++) {
		e->word[i] = len ? mr_load64(octets + 8 * i) : 0;
		sum = mr_sum_add(sum, e->word[i]);
	}
	e->sum = mr_sum_fold(sum);
	e->len = len ? 9 + len : 0;
}

#endif
