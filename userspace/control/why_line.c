/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why_line.c - where it is written what a verdict is from.
 *
 * Plain names keep no line: a list is read once more, on the asking thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "control/internal.h"

struct place {
	unsigned source;		/* in */
	struct snapshot *snapshot;
	char path[CONFIG_PATH_MAX];	/* of the list, or of its copy */
};

static int take_place(struct control *c, void *arg)
{
	const struct config_list *l;
	struct lists_status st;
	struct place *p = arg;

	p->snapshot = snapshot_ref(c->snapshot);
	if (p->source >= p->snapshot->config->filter_lists.count)
		return 0;
	l = &p->snapshot->config->filter_lists.at[p->source];
	if (l->file)
		snprintf(p->path, sizeof(p->path), "%s", l->file);
	else if (lists_find(c->fetch, l->name, &st) == 0 && st.have)
		snprintf(p->path, sizeof(p->path), "%s", st.path);
	return 0;
}

static void look_in_list(const struct config_list *l, const char *path, const uint8_t *lower, uint16_t len,
			 const struct judge_result *found, struct control_verdict *v)
{
	struct err_at ignored;
	size_t size;
	char *text;

	if (!*path || lists_read_file(path, &text, &size, &ignored))
		return;
	v->line = compile_line(text, size, (enum list_format)l->format, l->action == CONFIG_LIST_ALLOW, lower, len, found,
			       v->rule, sizeof(v->rule));
	free(text);
}

/* Which of the rules it is; its line in the configuration's file, 0 for one that was made at run time. */
static void look_in_rules(const struct config_rules *r, const uint8_t *lower, uint16_t len,
			  const struct judge_result *found, struct control_verdict *v)
{
	char text[256];
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (v->line ? i + 1 == v->line :
		    compile_line(r->at[i].text, strlen(r->at[i].text), LIST_AUTO, false, lower, len, found, text,
				 sizeof(text)) > 0)
			break;
	v->line = 0;
	if (i == r->count)
		return;
	v->line = r->at[i].place.line;
	snprintf(v->rule, sizeof(v->rule), "%s", r->at[i].text);
}

void why_find_line(struct control *c, const uint8_t *lower, uint16_t len, struct control_verdict *v)
{
	struct judge_result found = { .kind = (enum mr_verdict_kind)v->kind, .step = (enum judge_step)v->step,
				      .source = v->source,
				      .depth = v->depth, .entry = v->entry };
	struct place p = { .source = v->source };
	const struct config *f;
	struct sources n;
	unsigned g;

	if (call_control(c, take_place, &p))
		return;
	f = p.snapshot->config;
	sources_number(f, &n);
	if (v->source < n.lists && !v->line && (v->step == JUDGE_name || v->link_len))
		look_in_list(&f->filter_lists.at[v->source], p.path, lower, len, &found, v);
	else if (v->source == n.rules)
		look_in_rules(&f->filter_rules, lower, len, &found, v);
	else if (v->source == n.rewrites)
		v->line = v->line && v->line <= f->filter_rewrites.count ? f->filter_rewrites.at[v->line - 1].place.line : 0;
	else if (v->source == n.safe_search)
		v->line = 0;
	for (g = 0; g < f->groups.count; g++)
		if (v->source == n.group[g])
			look_in_rules(&f->groups.at[g].rules, lower, len, &found, v);
	snapshot_unref(p.snapshot);
}
