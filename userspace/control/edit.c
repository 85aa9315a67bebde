/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edit.c - a rule about one name, made or taken away in the filter in force.
 *
 * Compiling a million names for one takes a third of a second.  What is as plain
 * as a name and an action changes one entry instead (policy/filter_edit.h);
 * whatever is not known to be as plain is compiled.  What the source says of the
 * name is read from all its rules, since several may say the same.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "control/internal.h"
#include "dns/name.h"

#define EDITS_MAX   1024
#define EDITS_READS (1U << 19)		/* of a rule, for all of them: half a second at a start */

/* The rule that is changed. */
struct edited {
	uint8_t name[DNS_NAME_MAX + 1];
	uint16_t len;
	enum rule_reach reach;
	enum filter_action action;
};

/* What other rules say of its name. */
struct reading {
	const struct edited *of;	/* NULL: the rule itself is read, into ret */
	struct edited *ret;
	unsigned items;
	unsigned said;			/* bit FILTER_x: with its reach */
	bool special;			/* a rule that stands in struct rules was read */
	bool odd;			/* something about the name that an entry alone does not hold */
	struct list_report report;
};

static bool is_plain(const struct rule_item *i)
{
	return rule_is_plain(i) && i->name_len <= DNS_NAME_MAX && dns_name_labels(i->name) < MR_LABELS_MAX;
}

static void take_edited(struct edited *to, const struct rule_item *i)
{
	memcpy(to->name, i->name, i->name_len);
	to->len = i->name_len;
	to->reach = i->reach;
	to->action = i->action;
}

static int take(void *arg, const struct rule_item *i)
{
	struct reading *r = arg;

	r->items++;
	if (!r->of) {
		if (is_plain(i))
			take_edited(r->ret, i);
		else
			r->odd = true;
		return 1;
	}
	r->special |= !rule_is_plain(i);
	if (i->kind != RULE_NAME || i->name_len != r->of->len || memcmp(i->name, r->of->name, i->name_len))
		return 1;
	if (!is_plain(i))
		r->odd = true;
	else if (i->reach == r->of->reach)
		r->said |= 1U << i->action;
	return 1;
}

/* A rule that gives nothing would not be compiled either; then that has to say why. */
static int read_rule(struct reading *r, const char *text)
{
	unsigned items = r->items;

	memset(&r->report, 0, sizeof(r->report));
	if (list_parse(text, strlen(text), LIST_AUTO, false, take, r, &r->report))
		return -EAGAIN;
	return r->items > items && !r->report.route ? 0 : -EAGAIN;
}

/* Read the one rule; -EAGAIN when it is anything but one plain name. */
static int read_edited(struct reading *r, const char *text, struct edited *ret)
{
	int err;

	*r = (struct reading){ .ret = ret };
	err = read_rule(r, text);
	return err || r->odd || r->items != 1 ? -EAGAIN : 0;
}

/*
 * Read the rules of the source but number @but.  Special rules are known by their
 * place: none of those behind it may have moved.
 */
static int read_others(struct reading *r, const struct config_rules *rules, unsigned but)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < rules->count && !err; i++) {
		r->special = false;
		if (i != but)
			err = read_rule(r, rules->at[i].text);
		if (i > but && r->special)
			err = -EAGAIN;
	}
	return err;
}

/* $badfilter in the rules of a group, in capitals or not, takes away what others say. */
static int read_groups(const struct edited *of, const struct config_groups *groups, struct reading *r)
{
	unsigned i, k;
	int err = 0;

	for (i = 0; i < groups->count; i++)
		for (k = 0; k < groups->at[i].rules.count && !err; k++) {
			if (!strcasestr(groups->at[i].rules.at[k].text, "badfilter"))
				continue;
			*r = (struct reading){ .of = of };
			err = read_rule(r, groups->at[i].rules.at[k].text);
			if (r->odd)
				err = -EAGAIN;
		}
	return err;
}

/* Members that stand for patterns are not known from others; heavy ones are asked about instead, so whether there are any. */
static bool patterns_matter(const struct judge *j, const struct edited *e)
{
	return e->reach == RULE_EXACT && rules_have_regex(j->rules) &&
	       (rules_regex_limited(j->rules) || rules_regex_heavy(j->rules) ||
		rules_any_regex(j->rules, e->name, e->len, NULL));
}

static int plan(const struct judge *j, unsigned source, const struct edited *e, unsigned before, unsigned after,
		struct filter_edit *ret)
{
	struct mr_name name = { .len = e->len };
	struct filter_change ch = { .subtree = e->reach != RULE_EXACT, .source = (uint16_t)source, .before = before,
				    .after = after };

	memcpy(name.text, e->name, e->len);
	if (mr_name_hash(&name, j->secret))
		return -EAGAIN;
	ch.hash = &name.hash[name.labels];
	ch.depth = name.labels;
	return filter_edit_plan(&j->filter, j->members, &ch, ret);
}

/* Which rule of @with is not one of @without, all others being the same in the same order; -EAGAIN: that cannot be said. */
static int find_edited(const struct config_rules *with, const struct config_rules *without, unsigned *ret)
{
	unsigned i, at = 0;

	if (with->count != without->count + 1)
		return -EAGAIN;
	while (at < without->count && !strcmp(with->at[at].text, without->at[at].text))
		at++;
	for (i = at; i < without->count; i++)
		if (strcmp(with->at[i + 1].text, without->at[i].text))
			return -EAGAIN;
	*ret = at;
	return 0;
}

/*
 * So many changes in place since the last compilation are made again at a start,
 * and each of them reads all rules.
 */
static unsigned edits_max(unsigned rules)
{
	unsigned max = EDITS_READS / (rules + 1);

	return max < EDITS_MAX ? max : EDITS_MAX;
}

static bool same_rules(const struct config_rules *a, const struct config_rules *b)
{
	unsigned i;

	for (i = 0; a->count == b->count && i < a->count; i++)
		if (strcmp(a->at[i].text, b->at[i].text))
			return false;
	return a->count == b->count;
}

/* Those of groups are compiled. */
static bool same_group_rules(const struct config_groups *a, const struct config_groups *b)
{
	unsigned i;

	for (i = 0; a->count == b->count && i < a->count; i++)
		if (!same_rules(&a->at[i].rules, &b->at[i].rules))
			return false;
	return a->count == b->count;
}

int edit_plan(struct control *c, const struct config *next, struct filter_edit *ret)
{
	const struct config *now = c->snapshot->config;
	const struct config_rules *old = &now->filter_rules, *new = &next->filter_rules;
	const struct judge *j = &c->snapshot->judge;
	bool added = new->count > old->count;
	const struct config_rules *with = added ? new : old;
	struct reading *r = malloc(sizeof(*r));
	struct snapshot *root = snapshot_root(c->snapshot);
	struct sources n, was;
	struct edited e;
	unsigned number;
	int err = -EAGAIN;

	sources_number(next, &n);
	sources_number(now, &was);
	/* Before the first compile it is not known what is in the filter; what comes back with a rule is more than that. */
	if (!r || !c->lists || c->edits >= edits_max(with->count) || c->left_out_next.count != c->left_out.count ||
	    n.count != was.count || n.rules != was.rules || !same_group_rules(&now->groups, &next->groups))
		goto out;
	err = find_edited(with, added ? old : new, &number);
	if (!err)
		err = read_edited(r, with->at[number].text, &e);
	if (!err)
		err = read_groups(&e, &next->groups, r);
	if (!err) {
		*r = (struct reading){ .of = &e };
		err = read_others(r, with, number);
	}
	if (!err && (r->odd || patterns_matter(j, &e)))
		err = -EAGAIN;
	if (!err)
		err = plan(j, n.rules, &e, added ? r->said : r->said | 1U << e.action,
			   added ? r->said | 1U << e.action : r->said, ret);
	if (!err && root->owned.filter && filter_edit_allow(root->owned.filter))
		err = -EAGAIN;
out:
	free(r);
	return err;
}

/* Make a planned change in the filter of @root, with no edge of a schedule in between. */
static int make(struct control *c, const struct filter_edit *e, struct snapshot *root, const struct judge *j,
		struct filter_view *ret)
{
	struct mr_verdict cells[MR_GROUPS_MAX] = { 0 };
	int err;

	edges_lock(&c->edges);
	filter_edit_members(e, root->owned.members);
	if (e->is_new)
		judge_set_verdicts(j, e->set, cells);
	err = kern_filter_edit(c->kern, e, cells, ret);
	edges_unlock(&c->edges, root, e->is_new);
	return err;
}

int edit_make(struct control *c, const struct filter_edit *e, struct snapshot *s)
{
	struct snapshot *root = snapshot_root(c->snapshot);
	int err;

	s->judge = c->snapshot->judge;
	err = make(c, e, root, &s->judge, &s->judge.filter);
	if (err)
		return err;
	s->base = snapshot_ref(root);
	c->edits++;
	snapshot_apply_edited(c, s);
	return 0;
}

/* ---- what is in state.db and not yet in the filter on disk ---- */

static int read_all(struct reading *r, const struct edited *e, const struct config_rules *rules)
{
	unsigned i;
	int err = 0;

	*r = (struct reading){ .of = e };
	for (i = 0; i < rules->count && !err; i++)
		err = read_rule(r, rules->at[i].text);
	return err || r->odd ? -EAGAIN : 0;
}

struct replay {
	struct control *c;
	struct snapshot *s;
	struct config_rules was;
	struct filter_edit edit;
	struct reading reading;
	unsigned max, made, left;
};

static int change_again(struct replay *p, const char *text)
{
	struct reading *r = &p->reading;
	struct sources n;
	struct edited e;
	unsigned before;
	int err = read_edited(r, text, &e);

	sources_number(p->s->config, &n);
	if (!err)
		err = read_groups(&e, &p->s->config->groups, r);
	if (!err)
		err = read_all(r, &e, &p->was);
	before = r->said;
	if (!err)
		err = read_all(r, &e, &p->s->config->filter_rules);
	if (!err)
		err = patterns_matter(&p->s->judge, &e) ? -EAGAIN :
		      plan(&p->s->judge, n.rules, &e, before, r->said, &p->edit);
	if (!err && p->s->owned.filter)
		err = filter_edit_allow(p->s->owned.filter);
	return err ? err : make(p->c, &p->edit, p->s, &p->s->judge, &p->s->judge.filter);
}

/* A change that cannot be made waits for the compilation that follows a start with a filter from disk. */
static void note(struct replay *p, const char *text)
{
	if (p->made + p->left < p->max && !change_again(p, text))
		p->made++;
	else
		p->left++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct config_rule *)a)->text, ((const struct config_rule *)b)->text);
}

/* Two sorted lists: what is in one of them alone is a change. */
static void compare(struct replay *p, const struct config_rules *a, const struct config_rules *b)
{
	unsigned i = 0, k = 0;
	int order;

	while (i < a->count || k < b->count) {
		order = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->at[i].text, b->at[k].text);
		if (order)
			note(p, order < 0 ? a->at[i].text : b->at[k].text);
		i += order <= 0;
		k += order >= 0;
	}
}

/* The lines of a text as rules, whose texts stay where they are. */
static int split(char *text, struct config_rules *ret)
{
	char *save, *line;

	ret->at = calloc(CONFIG_RULES_MAX, sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	for (line = strtok_r(text, "\n", &save); line && ret->count < CONFIG_RULES_MAX; line = strtok_r(NULL, "\n", &save))
		ret->at[ret->count++].text = line;
	return 0;
}

static struct config_rule *sorted(const struct config_rules *r)
{
	struct config_rule *all = calloc(r->count + 1, sizeof(*all));

	if (all && r->count)
		memcpy(all, r->at, r->count * sizeof(*all));
	if (all)
		qsort(all, r->count, sizeof(*all), by_text);
	return all;
}

void edit_replay(struct control *c, struct snapshot *s, char *rules)
{
	struct replay *p = calloc(1, sizeof(*p));
	struct config_rules was = { 0 }, now = { .count = s->config->filter_rules.count };

	if (!p || split(rules, &p->was))
		goto out;
	p->c = c;
	p->s = s;
	was.count = p->was.count;
	p->max = 2 * edits_max(was.count < now.count ? was.count : now.count);
	was.at = sorted(&p->was);
	now.at = sorted(&s->config->filter_rules);
	if (was.at && now.at)
		compare(p, &was, &now);
	if (p->made || p->left)
		log_info("rules that were changed since the filter was compiled: %u are in force, %u wait until it is compiled again",
			 p->made, p->left);
out:
	if (p)
		free(p->was.at);
	free(was.at);
	free(now.at);
	free(p);
}
