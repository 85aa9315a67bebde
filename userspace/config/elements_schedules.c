/* SPDX-License-Identifier: BSD-2-Clause */
/* elements_schedules.c - the reader of a group's windows of the week. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

enum { DAYS, FROM, TO, ZONE, LISTS, FIELDS };
static const struct reader_field fields[FIELDS] = {
	[DAYS] = { "days", false },   [FROM] = { "from", false },   [TO] = { "to", false },
	[ZONE] = { "zone", false },   [LISTS] = { "lists", false },
};

static int read_days(struct reader *r, const yaml_node_t *node, const char *key, struct schedule *s)
{
	static const char *const words[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };
	const struct config_option o = { .path = key, .expected = "days of the week", .min = 1, .max = 7 };
	int n = element_count(r, node, &o), i, day, err = 0;
	char path[ELEMENT_KEY_MAX];

	s->days = 0;
	for (i = 0; i < n; i++) {
		day = reader_word(r, element_at(r, node, (unsigned)i), element_key(path, key, (unsigned)i), words, 7,
				  "mon, tue, wed, thu, fri, sat or sun");
		if (day >= 0 && s->days >> day & 1)
			day = reader_error(r, element_at(r, node, (unsigned)i), path, "this day is there already");
		if (day < 0)
			err = -EINVAL;
		else
			s->days |= (uint8_t)(1U << day);
	}
	return n < 0 ? n : err;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "7:00" or "07:00"; 24:00 is the next midnight. */
static int read_time(struct reader *r, const yaml_node_t *node, const char *key, bool may_be_24, uint16_t *ret)
{
	static const char expected[] = "a time of the day like \"21:00\"";
	const char *text = reader_text(r, node, key, expected), *p = text;
	unsigned minutes, hours;
	char quoted[64];

	if (!text)
		return -EINVAL;
	p += is_digit(p[0]) && is_digit(p[1]) ? 2 : is_digit(p[0]) ? 1 : 0;
	if (p == text || p[0] != ':' || !is_digit(p[1]) || !is_digit(p[2]) || p[3])
		goto wrong;
	hours = (unsigned)atoi(text);
	minutes = (unsigned)atoi(p + 1);
	if (minutes > 59 || hours > 24 || (hours == 24 && (minutes || !may_be_24)))
		goto wrong;
	*ret = (uint16_t)(hours % 24 * 60 + minutes);
	return 0;
wrong:
	return reader_error(r, node, key, "expected %s, not %s", expected, reader_quote(text, quoted, sizeof(quoted)));
}

static int read_times(struct reader *r, const yaml_node_t *const *f, const yaml_node_t *node, const char *key,
		      struct schedule *s)
{
	char path[ELEMENT_KEY_MAX];
	int err = 0;

	if (!f[FROM] != !f[TO])
		return reader_error(r, node, element_field(path, key, f[FROM] ? "to" : "from"),
				    "missing; expected a time of the day like \"21:00\", as the other one has it");
	if (f[FROM] && read_time(r, f[FROM], element_field(path, key, "from"), false, &s->from))
		err = -EINVAL;
	if (f[TO] && read_time(r, f[TO], element_field(path, key, "to"), true, &s->to))
		err = -EINVAL;
	return err;
}

/* @node NULL: the machine's. */
static int read_zone(struct reader *r, const yaml_node_t *node, const yaml_node_t *map, const char *key,
		     struct config_schedule *s)
{
	static const char expected[] = "the name of a time zone like \"Europe/Berlin\"";
	const char *text = node ? reader_text(r, node, key, expected) : "";
	char quoted[64];
	int err;

	if (!text)
		return -EINVAL;
	reader_quote(text, quoted, sizeof(quoted));
	err = tz_load(text, &s->tz);
	if (err == -ENOMEM)
		return r->err = err;
	if (err && !node)
		return reader_error(r, map, key, "the machine's own time zone cannot be read (%s); expected %s",
				    strerror(-err), expected);
	if (err == -EINVAL)
		return reader_error(r, node, key, "expected %s, not %s", expected, quoted);
	if (err)
		return reader_error(r, node, key, "expected %s, not %s: %s under /usr/share/zoneinfo "
				    "(package tzdata)", expected,
				    quoted, err == -ENOENT ? "there is none of that name" :
				    err == -EBADMSG ? "that is no zone's file" : "it cannot be read");
	strcpy(s->zone, text);
	return 0;
}

/* "all" among the names, or no names. */
static int read_lists(struct reader *r, const yaml_node_t *node, const char *key, struct config_schedule *s)
{
	unsigned i, kept = 0;
	int err;

	if (!node) {
		s->all = true;
		return 0;
	}
	err = element_refs(r, node, key, 1, &s->lists);
	for (i = 0; i < s->lists.count; i++) {
		if (!strcmp(s->lists.at[i].name, "all"))
			s->all = true;
		else
			s->lists.at[kept++] = s->lists.at[i];
	}
	s->lists.count = kept;
	return err;
}

int element_schedule(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	struct config_schedule *s = to;
	const yaml_node_t *f[FIELDS];
	char path[ELEMENT_KEY_MAX];
	int err = reader_fields(r, node, key, fields, FIELDS, f);

	s->line = element_line(r, node);
	s->window.days = SCHEDULE_ALL_DAYS;
	if (node->type != YAML_MAPPING_NODE)
		return err;
	if (f[DAYS] && read_days(r, f[DAYS], element_field(path, key, "days"), &s->window))
		err = -EINVAL;
	if (read_times(r, f, node, key, &s->window))
		err = -EINVAL;
	if (read_zone(r, f[ZONE], node, element_field(path, key, "zone"), s))
		err = -EINVAL;
	if (read_lists(r, f[LISTS], element_field(path, key, "lists"), s))
		err = -EINVAL;
	return err;
}

void schedule_done(struct config_schedule *s)
{
	tz_free(s->tz);
	free(s->lists.at);
	free(s->uses);
}

/* ---- in force? ---- */

static bool is_for(const struct config_schedule *s, unsigned list)
{
	return s->all || s->uses[list];
}

bool config_group_uses(const struct config_group *g, unsigned list, int64_t now)
{
	const struct config_schedule *s;
	bool named = false;

	if (list >= g->lists || !g->uses[list])
		return false;
	for (s = g->schedules.at; s < g->schedules.at + g->schedules.count; s++) {
		if (!is_for(s, list))
			continue;
		if (schedule_in_force(&s->window, s->tz, now))
			return true;
		named = true;
	}
	return !named;
}

bool config_group_uses_rules(const struct config_group *g, int64_t now)
{
	const struct config_schedule *s;
	bool named = false;

	for (s = g->schedules.at; s < g->schedules.at + g->schedules.count; s++) {
		if (!s->all)
			continue;
		if (schedule_in_force(&s->window, s->tz, now))
			return true;
		named = true;
	}
	return !named;
}

int64_t config_group_edge(const struct config_group *g, int64_t now)
{
	const struct config_schedule *s;
	int64_t next = SCHEDULE_NEVER, edge;

	for (s = g->schedules.at; s < g->schedules.at + g->schedules.count; s++) {
		edge = schedule_next(&s->window, s->tz, now);
		next = edge < next ? edge : next;
	}
	return next;
}
