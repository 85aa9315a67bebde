/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.c - loads a configuration by the rows of options.def.
 *
 * The document is walked first, which finds each option's node; then the
 * options are read in the order of their rows, so that one may build on those
 * above it.  A default is YAML too and goes through the same readers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "config/document.h"
#include "config/elements.h"

#define COUNT_OF(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))
#define DEPTH_MAX   3		/* parts of a path */
#define KEYS_MAX    64		/* known keys of one map; there are fewer */

/* ---- the rows ---- */

#define KIND(kind, read, same, type, expected) \
	static const struct config_kind kind_##kind = { config_read_##read, config_same_##same }; \
	static const char expected_##kind[] = expected;
#include "config/kinds.def"
#undef KIND

enum option {
#define OPTION(member, ...) OPTION_##member,
#define PLANNED(path, help)
#include "config/options.def"
#undef OPTION
#undef PLANNED
	OPTIONS
};

#define LIVE    false
#define RESTART true

static const struct config_row rows[OPTIONS] = {
#define OPTION(member, path, kind, fallback, min, max, apply, help) \
	[OPTION_##member] = { { path, expected_##kind, fallback, min, max, apply, help }, &kind_##kind, \
			      offsetof(struct config, member), sizeof(((struct config *)0)->member) },
#define PLANNED(path, help)
#include "config/options.def"
#undef OPTION
#undef PLANNED
};

static const struct config_planned planned[] = {
#define OPTION(member, ...)
#define PLANNED(path, help) { path, help },
#include "config/options.def"
#undef OPTION
#undef PLANNED
};

const struct config_option *config_option(unsigned i)
{
	return i < OPTIONS ? &rows[i].o : NULL;
}

const struct config_planned *config_planned(unsigned i)
{
	return i < COUNT_OF(planned) ? &planned[i] : NULL;
}

/* ---- the walk ---- */

struct walk {
	struct reader r;
	const yaml_node_t *node[OPTIONS];	/* what the file gives */
	bool failed;				/* a reader said so */
};

/* One map of the walk: the keys it has had so far, for finding repeated ones. */
struct level {
	const char *path;			/* "" at the root */
	unsigned depth;
	unsigned count;
	struct {
		const char *name;
		unsigned line;
	} seen[KEYS_MAX];
};

static int option_find(const char *path)
{
	int i;

	for (i = 0; i < OPTIONS; i++)
		if (!strcmp(rows[i].o.path, path))
			return i;
	return -ENOENT;
}

static const struct config_planned *planned_find(const char *path)
{
	unsigned i;

	for (i = 0; i < COUNT_OF(planned); i++)
		if (!strcmp(planned[i].path, path))
			return &planned[i];
	return NULL;
}

/* True when some known path continues this one. */
static bool is_section(const char *path)
{
	size_t n = strlen(path);
	unsigned i;

	for (i = 0; i < OPTIONS; i++)
		if (!strncmp(rows[i].o.path, path, n) && rows[i].o.path[n] == '.')
			return true;
	for (i = 0; i < COUNT_OF(planned); i++)
		if (!strncmp(planned[i].path, path, n) && planned[i].path[n] == '.')
			return true;
	return false;
}

/* Note an unknown key, with the likest of the known paths and sections. */
static void unknown(struct walk *w, const yaml_node_t *key, const struct level *l, const char *path)
{
	const char *paths[2 * OPTIONS + COUNT_OF(planned)], *like, *dot;
	char quoted[64], section[OPTIONS][48];
	unsigned i, n = 0;

	if (w->r.errs->count == CONFIG_ERRORS_MAX) {
		w->r.errs->more++;
		return;
	}
	for (i = 0; i < OPTIONS; i++) {
		paths[n++] = rows[i].o.path;
		dot = strrchr(rows[i].o.path, '.');
		if (!dot)
			continue;
		snprintf(section[i], sizeof(section[i]), "%.*s", (int)(dot - rows[i].o.path), rows[i].o.path);
		paths[n++] = section[i];
	}
	for (i = 0; i < COUNT_OF(planned); i++)
		paths[n++] = planned[i].path;
	like = reader_nearest(path, paths, n);
	reader_error(&w->r, key, path, "unknown key %s%s%s%s",
		     reader_quote((const char *)key->data.scalar.value, quoted, sizeof(quoted)),
		     like ? "; did you mean \"" : "", like ? like : "", like ? "\"?" : "");
}

/* Remember a known key; false (and an error) when this map has had it. */
static bool first_time(struct walk *w, struct level *l, const yaml_node_t *key, const char *path)
{
	const char *name = (const char *)key->data.scalar.value;
	unsigned i;

	for (i = 0; i < l->count; i++) {
		if (!strcmp(l->seen[i].name, name)) {
			reader_error(&w->r, key, path, "given twice, first in line %u", l->seen[i].line);
			return false;
		}
	}
	if (bug_if(l->count == KEYS_MAX))
		return false;
	l->seen[l->count].name = name;
	l->seen[l->count++].line = reader_line(key);
	return true;
}

static void walk_map(struct walk *w, const yaml_node_t *map, const char *path, unsigned depth);

static void walk_pair(struct walk *w, struct level *l, const yaml_node_pair_t *pair)
{
	const yaml_node_t *key = reader_node(&w->r, pair->key), *value = reader_node(&w->r, pair->value);
	const char *name = reader_text(&w->r, key, l->path, "the name of a key");
	char path[96];
	int i;

	if (!name)
		return;
	snprintf(path, sizeof(path), "%s%s%.40s", l->path, *l->path ? "." : "", name);
	i = option_find(path);
	if (i < 0 && !planned_find(path) && !is_section(path)) {
		unknown(w, key, l, path);
		return;
	}
	if (!first_time(w, l, key, path))
		return;
	if (i >= 0)
		w->node[i] = value;
	else if (planned_find(path))
		reader_error(&w->r, key, path, "not built yet (%s)", planned_find(path)->help);
	else
		walk_map(w, value, path, l->depth + 1);
}

static void walk_map(struct walk *w, const yaml_node_t *map, const char *path, unsigned depth)
{
	struct level l = { .path = path, .depth = depth };
	const yaml_node_pair_t *p;

	/* "server:" with nothing but comments below it */
	if (reader_is_null(map) || depth > DEPTH_MAX)
		return;
	if (map->type != YAML_MAPPING_NODE) {
		reader_error(&w->r, map, path, "expected a map of keys and values");
		return;
	}
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
		walk_pair(w, &l, p);
}

/* ---- the values ---- */

static void read_option(struct walk *w, const struct config_row *row, const yaml_node_t *node)
{
	if (row->kind->read(&w->r, node, row, (char *)w->r.c + row->offset))
		w->failed = true;
}

/* The default of a row: a document of its own. */
static int read_fallback(struct walk *w, const struct config_row *row)
{
	yaml_document_t doc, *outer = w->r.doc;
	unsigned errors = w->r.errs->count;
	int err;

	if (!row->o.fallback)
		return 0;
	err = document_load(row->o.fallback, strlen(row->o.fallback), NULL, &doc, w->r.errs);
	if (err)
		return err;
	w->r.doc = &doc;
	w->r.outside = true;
	read_option(w, row, yaml_document_get_root_node(&doc));
	w->r.outside = false;
	w->r.doc = outer;
	yaml_document_delete(&doc);
	bug_if(w->r.errs->count != errors);
	return w->r.err;
}

/* What holds between options. */
static void check_together(struct walk *w)
{
	const struct config *c = w->r.c;
	bool v4 = w->node[OPTION_filter_block_ipv4], v6 = w->node[OPTION_filter_block_ipv6];
	const yaml_node_t *min = w->node[OPTION_cache_min_ttl], *max = w->node[OPTION_cache_max_ttl];

	if (c->cache_min_ttl > c->cache_max_ttl)
		reader_error(&w->r, min ? min : max, min ? "cache.min_ttl" : "cache.max_ttl",
			     "cache.min_ttl (%u) is more than cache.max_ttl (%u)", c->cache_min_ttl, c->cache_max_ttl);
	if (c->filter_block_mode == CONFIG_BLOCK_CUSTOM && !v4 && !v6)
		reader_error(&w->r, w->node[OPTION_filter_block_mode], "filter.block.mode",
			     "custom needs filter.block.ipv4, filter.block.ipv6 or both");
	if (c->filter_block_mode != CONFIG_BLOCK_CUSTOM && v4)
		reader_error(&w->r, w->node[OPTION_filter_block_ipv4], "filter.block.ipv4",
			     "only with filter.block.mode custom");
	if (c->filter_block_mode != CONFIG_BLOCK_CUSTOM && v6)
		reader_error(&w->r, w->node[OPTION_filter_block_ipv6], "filter.block.ipv6",
			     "only with filter.block.mode custom");
}

/* Servers of several sets are one server when they are asked in the same way. */
static unsigned count_servers(const struct config_servers *s, const struct config_server **seen, unsigned count)
{
	unsigned i, j;

	for (i = 0; i < s->count; i++) {
		for (j = 0; j < count; j++)
			if (config_server_same(seen[j], &s->at[i]))
				break;
		if (j == count && count <= CONFIG_SERVERS_ALL)
			seen[count++] = &s->at[i];
	}
	return count;
}

static void check_servers(struct walk *w)
{
	const struct config_server *seen[CONFIG_SERVERS_ALL + 1];
	const struct config *c = w->r.c;
	unsigned i, n;

	n = count_servers(&c->upstreams_servers, seen, 0);
	n = count_servers(&c->upstreams_fallback, seen, n);
	for (i = 0; i < c->upstreams_routes.count; i++)
		n = count_servers(&c->upstreams_routes.at[i].servers, seen, n);
	if (n > CONFIG_SERVERS_ALL)
		reader_error(&w->r, w->node[OPTION_upstreams_routes], "upstreams.routes",
			     "expected at most %u different servers in upstreams.servers, fallback and routes together",
			     CONFIG_SERVERS_ALL);
}

static int read_all(struct walk *w)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < OPTIONS && !err; i++) {
		if (w->node[i])
			read_option(w, &rows[i], w->node[i]);
		else
			err = read_fallback(w, &rows[i]);
		if (w->r.err)
			err = w->r.err;
	}
	w->r.c->upstreams_servers_given = w->node[OPTION_upstreams_servers];
	if (!err && !w->r.errs->count)
		check_together(w);
	if (!err && !w->r.errs->count)
		check_servers(w);
	if (!err && config_check_whole(w->r.c, w->r.errs) == -ENOMEM)
		err = -ENOMEM;
	return err;
}

/* By line; those of one line stay in their order. */
static void sort_errors(struct config_errors *e)
{
	struct err_at key;
	unsigned i, j;

	for (i = 1; i < e->count; i++) {
		key = e->at[i];
		for (j = i; j > 0 && e->at[j - 1].line > key.line; j--)
			e->at[j] = e->at[j - 1];
		e->at[j] = key;
	}
}

int config_load(const char *text, size_t size, const char *file, struct config **ret, struct config_errors *reterrs)
{
	struct walk w = { .r = { .file = file, .errs = reterrs } };
	const yaml_node_t *root;
	yaml_document_t doc;
	int err;

	*reterrs = (struct config_errors){ 0 };
	err = document_load(text, size, file, &doc, reterrs);
	if (err)
		return err;
	w.r.doc = &doc;
	w.r.c = calloc(1, sizeof(*w.r.c));
	if (!w.r.c) {
		err = -ENOMEM;
		goto out;
	}
	snprintf(w.r.c->file, sizeof(w.r.c->file), "%s", file ? file : "");
	root = yaml_document_get_root_node(&doc);
	if (root)
		walk_map(&w, root, "", 0);
	err = read_all(&w);
	sort_errors(reterrs);
	if (!err && (reterrs->count || w.failed))
		err = -EINVAL;
	if (err)
		goto out;
	*ret = w.r.c;
	w.r.c = NULL;		/* now the caller's */
out:
	config_free(w.r.c);
	yaml_document_delete(&doc);
	return err;
}

void config_free(struct config *c)
{
	unsigned i;

	if (!c)
		return;
	for (i = 0; i < c->filter_lists.count; i++)
		list_done(&c->filter_lists.at[i]);
	for (i = 0; i < c->clients.count; i++)
		client_done(&c->clients.at[i]);
	for (i = 0; i < c->groups.count; i++)
		group_done(&c->groups.at[i]);
	rules_done(&c->filter_rules);
	routes_done(&c->upstreams_routes);
	free(c->upstreams_servers.at);
	free(c->upstreams_fallback.at);
	free(c->upstreams_forward_special.at);
	free(c->upstreams_rebinding_allow.at);
	free(c->filter_lists.at);
	free(c->filter_rewrites.at);
	free(c->clients.at);
	free(c->groups.at);
	free(c);
}

unsigned config_changes(const struct config *before, const struct config *after,
			void (*each)(const struct config_option *o, void *arg), void *arg)
{
	const struct config_row *row;
	unsigned restarts = 0;
	bool same;

	for (row = rows; row < rows + OPTIONS; row++) {
		same = row->kind->same((const char *)before + row->offset, (const char *)after + row->offset, row->size);
		if (row == &rows[OPTION_upstreams_servers])
			same = same && before->upstreams_servers_given == after->upstreams_servers_given;
		if (same)
			continue;
		restarts += row->o.restart;
		each(&row->o, arg);
	}
	return restarts;
}
