/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_config.c - any bytes as a configuration, and as an object made at run time: taken or refused with a reason, never worse.
 *
 * fuzz-sources: userspace/config/config.c userspace/config/document.c userspace/config/elements.c userspace/config/elements_clients.c userspace/config/elements_groups.c userspace/config/elements_lists.c userspace/config/elements_rewrites.c userspace/config/elements_schedules.c userspace/config/elements_servers.c userspace/config/overlay.c userspace/config/reader.c userspace/config/texts.c userspace/config/values.c userspace/config/whole.c userspace/config/whole_clients.c userspace/base/addr.c userspace/base/bug.c userspace/base/endpoint.c userspace/base/err.c userspace/base/file.c userspace/base/log.c userspace/base/schedule.c userspace/base/tz.c userspace/base/tz_rule.c
 */
#include <stdlib.h>
#include <string.h>
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(const struct config_option *o, void *arg)
{
}

static void overlay(const char *kind, const char *json)
{
	static struct config_errors errs;
	struct config *c = NULL;
	int err;

	if (config_load("", 0, NULL, &c, &errs))
		abort();
	err = config_overlay(c, kind, "x", json, &errs);
	if (!err == (errs.count != 0))
		abort();
	err = config_check_whole(c, &errs);
	if (err && !errs.count)
		abort();
	config_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = { "list", "rule", "rewrite", "client", "group" };
	static struct config_errors errs;
	struct config *c = NULL;
	char *json;
	int err = config_load((const char *)data, size, "/etc/x.yaml", &c, &errs);

	if (!err != (c != NULL) || (err && !errs.count) || (!err && errs.count))
		abort();
	if (c && config_changes(c, c, ignore, NULL))
		abort();
	config_free(c);
	json = strndup((const char *)data, size);
	for (size_t i = 0; json && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		overlay(kinds[i], json);
	free(json);
	return 0;
}
