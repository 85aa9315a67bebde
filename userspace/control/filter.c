/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c - from list files to a filter in force.
 *
 * The compiled filter stands in the state directory beside the names of its
 * lists, in order: verdicts speak of lists by number, so a filter of other
 * lists is not taken.  The names are away while the filter is replaced: whoever
 * is killed in between leaves a filter that is not taken, never a wrong pair.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/log.h"
#include "control/internal.h"

#define LIST_SIZE_MAX (1ULL << 30)

static void state_path(const struct control *c, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", c->state, name);
}

/* The names and actions of the lists, one a line. */
static char *lists_text(const struct config *config)
{
	const struct config_lists *l = &config->filter_lists;
	size_t size = 1;
	char *text;
	FILE *f = open_memstream(&text, &size);
	unsigned i;

	if (!f)
		return NULL;
	for (i = 0; i < l->count; i++)
		fprintf(f, "%d %s\n", (int)l->at[i].action, l->at[i].name);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static bool same_lists(const struct control *c, const struct config *config)
{
	char path[CONFIG_PATH_MAX + 32], *want = lists_text(config), *have = NULL;
	size_t size = 0;
	bool same = false;
	FILE *f;

	state_path(c, "filter.lists", path, sizeof(path));
	f = file_stream(path);
	if (f && want)
		same = getdelim(&have, &size, '\0', f) < 0 ? !*want : strcmp(have, want) == 0;
	if (f)
		fclose(f);
	free(have);
	free(want);
	return same;
}

static int write_lists(const struct control *c, const struct config *config, struct err_at *reterr)
{
	char path[CONFIG_PATH_MAX + 32], *text = lists_text(config);
	FILE *f;
	int err = 0;

	if (!text)
		return -ENOMEM;
	state_path(c, "filter.lists", path, sizeof(path));
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0)
		err = err_why(reterr, -errno, "%s: cannot be written: %s", path, strerror(errno));
	if (f && fclose(f) && !err)
		err = err_why(reterr, -errno, "%s: cannot be written: %s", path, strerror(errno));
	free(text);
	return err;
}

/* Put the file @made in the place of the filter on disk, with the names of its lists. */
static int replace_filter(const struct control *c, const struct config *config, const char *made, const char *path,
			  struct err_at *reterr)
{
	char lists[CONFIG_PATH_MAX + 32];

	state_path(c, "filter.lists", lists, sizeof(lists));
	if (unlink(lists) && errno != ENOENT)
		return err_why(reterr, -errno, "%s: cannot be removed: %s", lists, strerror(errno));
	if (rename(made, path))
		return err_why(reterr, -errno, "%s: cannot be renamed: %s", made, strerror(errno));
	return write_lists(c, config, reterr);
}

/* What blocked answers say, from the next filter on. */
static void publish_names(struct control *c, const struct config_lists *l)
{
	const char **names = calloc(l->count + 1, sizeof(*names));
	unsigned i;

	for (i = 0; names && i < l->count; i++)
		names[i] = l->at[i].name;
	kern_sources_publish(c->kern, names, names ? l->count : 0);
	free(names);
}

/* Turn the filter's sets into verdicts and put both in force; @f is taken. */
static int put_in_force(struct control *c, struct snapshot *s, struct filter *f, struct err_at *reterr)
{
	const struct config_groups *g = &s->config->groups;
	struct filter_group groups[CONFIG_GROUPS_MAX];
	struct mr_verdict *v;
	bool mapped = false;
	unsigned i;
	int err;

	for (i = 0; i < g->count; i++)
		groups[i] = (struct filter_group){ .uses = g->at[i].uses, .lists = s->config->filter_lists.count };
	v = filter_verdicts(f, groups, g->count);
	if (!v) {
		filter_free(f);
		return -ENOMEM;
	}
	publish_names(c, &s->config->filter_lists);
	err = kern_filter_publish(c->kern, f, v, g->count, &s->filter, &mapped, reterr);
	if (err || mapped) {
		filter_free(f);
		free(v);
	} else {
		s->filter_owned = f;
		s->verdicts_owned = v;
	}
	if (!err)
		c->filter_bytes = mapped ? 0 : ((uint64_t)s->filter.unit->bucket_mask + 1) * sizeof(struct mr_filter_bucket) +
						       ((uint64_t)s->filter.unit->bloom_mask + 1) * sizeof(uint64_t);
	return err;
}

bool filter_load(struct control *c, struct snapshot *s)
{
	char path[CONFIG_PATH_MAX + 32];
	struct err_at why = { 0 };
	struct filter *f;

	state_path(c, "filter.bin", path, sizeof(path));
	return same_lists(c, s->config) && filter_open(path, &c->secret, &f, &why) == 0 &&
	       put_in_force(c, s, f, &why) == 0;
}

struct sink {
	struct filter_builder *builder;
	unsigned list;
};

static int add_name(void *arg, const struct rule_item *i)
{
	const struct sink *k = arg;

	/* what the table of names cannot hold has no place yet */
	if (!rule_is_plain(i))
		return 1;
	return filter_builder_add(k->builder, i->name, i->name_len, i->reach == RULE_SUBTREE, k->list, i->action);
}

static int read_list(const struct config_list *l, struct sink *k, struct list_report *ret, struct err_at *reterr)
{
	size_t size;
	char *text;
	int err;

	err_where(reterr, l->file, 0, l->name);
	err = file_read(l->file, LIST_SIZE_MAX + 1, &text, &size);
	if (err)
		return err_why(reterr, err, "the list cannot be read: %s", strerror(-err));
	if (size > LIST_SIZE_MAX)
		err = err_why(reterr, -EFBIG, "the list is longer than 1 GiB");
	else
		err = list_parse(text, size, (enum list_format)l->format,
				 l->action == CONFIG_LIST_ALLOW, add_name, k, ret);
	free(text);
	if (err == -ENOMEM)
		err_why(reterr, err, "no memory for the names of the list");
	return err;
}

static int read_lists(struct control *c, const struct config *config, struct filter_builder *b, bool strict,
		      struct list_state *states, struct err_at *reterr)
{
	const struct config_lists *l = &config->filter_lists;
	unsigned i;
	int err;

	for (i = 0; i < l->count; i++) {
		struct sink k = { .builder = b, .list = i };

		err = read_list(&l->at[i], &k, &states[i].report, reterr);
		states[i].loaded = !err;
		if (!err)
			continue;
		if (strict || err == -ENOMEM)
			return err;
		snprintf(states[i].error, sizeof(states[i].error), "%.255s", reterr->why);
	}
	return 0;
}

/*
 * Compile to disk, and open what stands there.  A disk that takes nothing must
 * not keep a daemon from starting: then the filter is in memory alone.
 */
static int make_filter(struct control *c, const struct config *config, struct filter_builder *b, bool strict,
		       struct filter **ret, uint64_t *ret_asked, struct err_at *reterr)
{
	char path[CONFIG_PATH_MAX + 32], made[CONFIG_PATH_MAX + 32];
	int err;

	state_path(c, "filter.bin", path, sizeof(path));
	state_path(c, "filter.next", made, sizeof(made));
	err_where(reterr, NULL, 0, "state");
	err = filter_builder_write(b, made, ret_asked, reterr);
	if (!err)
		err = replace_filter(c, config, made, path, reterr);
	if (!err)
		return filter_open(path, &c->secret, ret, reterr);
	if (strict || err == -ENOMEM)
		return err;
	log_warn("%s: the filter is in memory alone, and is compiled again at the next start", reterr->why);
	return filter_builder_make(b, ret, ret_asked, reterr);
}

int filter_compile(struct control *c, struct snapshot *s, bool strict, struct err_at *reterr)
{
	const struct config *config = s->config;
	struct list_state *states = calloc(config->filter_lists.count + 1, sizeof(*states));
	struct filter_builder *b = filter_builder_new(&c->secret);
	struct filter *f = NULL;
	uint64_t asked = 0;
	int err = -ENOMEM;

	if (!states || !b)
		goto out;
	err = read_lists(c, config, b, strict, states, reterr);
	if (err)
		goto out;
	err = make_filter(c, config, b, strict, &f, &asked, reterr);
	filter_builder_free(b);		/* before the copy into the maps: the peak counts */
	b = NULL;
	if (!err)
		err = put_in_force(c, s, f, reterr);
	if (err)
		goto out;
	free(c->lists);
	c->lists = states;
	states = NULL;
	c->filter_asked = asked;
out:
	filter_builder_free(b);
	free(states);
	return err;
}
