/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.c - readers of single values: numbers, times, words, addresses, paths.
 *
 * YAML would take "010" as eight and "1:30" as ninety; here a number is decimal
 * digits without a leading zero, unquoted, and anything else is an error.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/reader.h"

#define COUNT_OF(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))

struct unit {
	const char *name;
	uint32_t factor;
};

static int wrong(struct reader *r, const yaml_node_t *node, const struct config_row *row, const char *text)
{
	char quoted[64];

	if (row->o.max)
		return reader_error(r, node, row->o.path, "expected %s from %u to %u, not %s", row->o.expected, row->o.min,
				    row->o.max, reader_quote(text, quoted, sizeof(quoted)));
	return reader_error(r, node, row->o.path, "expected %s, not %s", row->o.expected,
			    reader_quote(text, quoted, sizeof(quoted)));
}

/* Digits and one of the units, within the row's bounds. */
static int read_number(struct reader *r, const yaml_node_t *node, const struct config_row *row,
		       const struct unit *units, unsigned count, uint32_t *ret)
{
	const char *text = reader_text(r, node, row->o.path, row->o.expected), *p = text;
	uint64_t n = 0;
	unsigned i;

	if (!text)
		return -EINVAL;
	if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE && count == 1)
		return reader_error(r, node, row->o.path, "expected %s, not a text in quotes", row->o.expected);
	for (; *p >= '0' && *p <= '9' && n <= UINT32_MAX; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	if (p == text || (*text == '0' && p > text + 1))
		return wrong(r, node, row, text);
	for (i = 0; i < count; i++)
		if (!strcmp(p, units[i].name))
			break;
	if (i == count || n * units[i].factor < row->o.min || n * units[i].factor > row->o.max)
		return wrong(r, node, row, text);
	*ret = (uint32_t)(n * units[i].factor);
	return 0;
}

int config_read_count(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const struct unit units[] = { { "", 1 } };

	return read_number(r, node, row, units, COUNT_OF(units), to);
}

int config_read_seconds(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const struct unit units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };

	return read_number(r, node, row, units, COUNT_OF(units), to);
}

int config_read_millis(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const struct unit units[] = { { "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 } };

	return read_number(r, node, row, units, COUNT_OF(units), to);
}

int config_read_bytes(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const struct unit units[] = { { "", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 } };

	return read_number(r, node, row, units, COUNT_OF(units), to);
}

int config_read_workers(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	if (node->type == YAML_SCALAR_NODE && !strcmp((const char *)node->data.scalar.value, "auto")) {
		*(uint32_t *)to = 0;
		return 0;
	}
	return config_read_count(r, node, row, to);
}

int config_read_bool(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	/* YAML 1.1, the even ones are true; "y" and "n" alone are too easily something else */
	static const char *const words[] = {
		"true", "false", "True", "False", "TRUE", "FALSE", "yes", "no", "Yes", "No", "YES", "NO",
		"on", "off", "On", "Off", "ON", "OFF",
	};
	int i = reader_word(r, node, row->o.path, words, COUNT_OF(words), row->o.expected);

	if (i < 0)
		return i;
	if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return reader_error(r, node, row->o.path, "expected %s, not a text in quotes", row->o.expected);
	*(bool *)to = i % 2 == 0;
	return 0;
}

/* A switch that can only be off so far. */
int config_read_off(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int err = config_read_bool(r, node, row, to);

	if (!err && *(bool *)to)
		err = reader_error(r, node, row->o.path, "not built yet; only false is");
	return err;
}

/* One of the words; its place is the value.  Enums are ints. */
static int read_enum(struct reader *r, const yaml_node_t *node, const struct config_row *row,
		     const char *const *words, unsigned count, void *to)
{
	int i = reader_word(r, node, row->o.path, words, count, row->o.expected);

	if (i < 0)
		return i;
	*(int *)to = i;
	return 0;
}

int config_read_mode(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "auto", "native", "generic", "off" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_strategy(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "parallel_best", "ordered", "round_robin", "random", "latency" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_ecs(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "strip", "forward" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_attach(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "link" };

	if (node->type == YAML_SCALAR_NODE && !strcmp((const char *)node->data.scalar.value, "dispatcher"))
		return reader_error(r, node, row->o.path, "dispatcher is not built yet; expected link");
	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_block_mode(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "null_address", "nxdomain", "nodata", "refused", "custom" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_ede(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "none", "code", "text" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_access(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "allow", "refuse" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_backend(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "memory", "lmdb" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

int config_read_lmdb_sync(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	static const char *const words[] = { "full", "no_meta", "periodic", "none" };

	return read_enum(r, node, row, words, COUNT_OF(words), to);
}

static int read_ip(struct reader *r, const yaml_node_t *node, const struct config_row *row, bool v4, struct addr *to)
{
	const char *text = reader_text(r, node, row->o.path, row->o.expected);
	struct addr a;

	if (!text)
		return -EINVAL;
	if (addr_parse(text, 0, &a) || addr_is_v4(&a) != v4 || a.port || a.scope || *text == '[')
		return wrong(r, node, row, text);
	*to = a;
	return 0;
}

int config_read_ipv4(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return read_ip(r, node, row, true, to);
}

int config_read_ipv6(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return read_ip(r, node, row, false, to);
}

int config_read_user(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	const char *text = reader_text(r, node, row->o.path, row->o.expected);

	if (!text)
		return -EINVAL;
	if (strlen(text) >= sizeof(config_user) || strpbrk(text, " \t\n:/"))
		return wrong(r, node, row, text);
	strcpy(to, text);
	return 0;
}

int config_read_text(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	const char *text = reader_text(r, node, row->o.path, row->o.expected);

	if (!text)
		return -EINVAL;
	if (strlen(text) >= sizeof(config_text))
		return wrong(r, node, row, text);
	strcpy(to, text);
	return 0;
}

static int read_path(struct reader *r, const yaml_node_t *node, const struct config_row *row, size_t max, char *to)
{
	const char *text = reader_text(r, node, row->o.path, row->o.expected);
	char *path;
	int err = 0;

	if (!text)
		return -EINVAL;
	path = reader_path(r, text);
	if (!path) {
		r->err = -ENOMEM;
		return -ENOMEM;
	}
	if (strlen(path) > max)
		err = reader_error(r, node, row->o.path, "expected %s, but this is longer than %zu bytes",
				   row->o.expected, max);
	else
		strcpy(to, path);
	free(path);
	return err;
}

int config_read_path(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return read_path(r, node, row, CONFIG_PATH_MAX - 1, to);
}

/* What is relative is so to the folder of state, which whoever uses it puts before it. */
int config_read_state_path(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	const char *text = reader_text(r, node, row->o.path, row->o.expected);

	if (!text)
		return -EINVAL;
	if (strlen(text) >= CONFIG_PATH_MAX)
		return reader_error(r, node, row->o.path, "expected %s, but this is longer than %u bytes", row->o.expected,
				    CONFIG_PATH_MAX - 1);
	strcpy(to, text);
	return 0;
}

int config_read_socket(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return read_path(r, node, row, CONFIG_SOCKET_MAX, to);
}

/* For values without holes: they are written into cleared memory. */
bool config_same_bytes(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size) == 0;
}

bool config_same_addr(const void *a, const void *b, size_t size)
{
	return addr_same(a, b);
}
