/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_config.c - any bytes as a configuration: taken or refused with a reason, never worse.
 *
 * fuzz-sources: userspace/config/config.c userspace/config/document.c userspace/config/elements.c userspace/config/elements_clients.c userspace/config/elements_groups.c userspace/config/elements_lists.c userspace/config/elements_rewrites.c userspace/config/elements_schedules.c userspace/config/overlay.c userspace/config/reader.c userspace/config/texts.c userspace/config/values.c userspace/config/whole.c userspace/config/whole_clients.c userspace/base/addr.c userspace/base/bug.c userspace/base/err.c userspace/base/file.c userspace/base/log.c userspace/base/schedule.c userspace/base/tz.c userspace/base/tz_rule.c
 */
#include <stdlib.h>
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(const struct config_option *o, void *arg)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config_errors errs;
	struct config *c = NULL;
	int err = config_load((const char *)data, size, "/etc/x.yaml", &c, &errs);

	if (!err != (c != NULL) || (err && !errs.count) || (!err && errs.count))
		abort();
	if (c && config_changes(c, c, ignore, NULL))
		abort();
	config_free(c);
	return 0;
}
