/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_list.c - any bytes as a list, in each format: every name given is a
 * lower-case wire name that the filter holds, whatever the line looks like.
 *
 * fuzz-sources: userspace/policy/list.c userspace/policy/list_line.c
 */
#include <stdlib.h>
#include <string.h>
#include "maps/types.h"
#include "policy/list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *arg, const struct rule_item *item)
{
	const uint8_t *name = item->name;
	uint16_t len = item->name_len;
	unsigned at = 0, labels = 0, i;

	for (; name[at]; at += name[at] + 1U, labels++) {
		if (name[at] > 63 || at + name[at] + 1U >= len)
			abort();
		for (i = 1; i <= name[at]; i++)
			if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", name[at + i]))
				abort();
	}
	if (at + 1 != len || !labels || labels > MR_LABELS_MAX || len > MR_NAME_MAX)
		abort();
	return (int)(len & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct list_report r;
	enum list_format f;

	for (f = LIST_AUTO; f <= LIST_ADBLOCK; f++) {
		memset(&r, 0, sizeof(r));
		if (list_parse((const char *)data, size, f, false, take, NULL, &r))
			abort();
	}
	return 0;
}
