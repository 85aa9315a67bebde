/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c - from sources to a filter in force.
 *
 * The compiled filter stands in the state directory: filter.bin, its special
 * rules in filter.rules, and in filter.sources the names of its sources, in
 * order: verdicts speak of them by number, so a filter of other sources is not
 * taken.  These names are away while the filter is replaced: whoever is killed
 * in between leaves a filter that is not taken, never a wrong pair.  The rules
 * for all stand there too: what was changed in place since (edit.c) is in no
 * other file than state.db, and is changed again at the next start.
 */
#define LOG_ROOM "control"
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/log.h"
#include "control/internal.h"
#include "policy/filter_build.h"

#define PATH_SIZE (CONFIG_PATH_MAX + 32)

static void state_path(const struct control *c, const char *name, char *buf)
{
	snprintf(buf, PATH_SIZE, "%s/%s", c->state, name);
}

/* ---- files ---- */

#define RULES_LINE "rules\n"		/* what stands behind it is rules */

/* The names of the sources and what is done with lists, one a line; and the rules. */
static char *sources_text(const struct config *config, bool with_rules)
{
	const struct config_lists *l = &config->filter_lists;
	struct sources s;
	char name[96], *text;
	size_t size = 1;
	FILE *f = open_memstream(&text, &size);
	unsigned i;

	if (!f)
		return NULL;
	sources_number(config, &s);
	for (i = 0; i < s.count; i++)
		fprintf(f, "%d %s\n", i < s.lists ? (int)l->at[i].action : -1,
			sources_name(config, &s, i, name, sizeof(name)));
	if (with_rules)
		fputs(RULES_LINE, f);
	for (i = 0; with_rules && i < config->filter_rules.count; i++)
		fprintf(f, "%s\n", config->filter_rules.at[i].text);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/*
 * Is the filter on disk of the same sources?
 *
 * @ret_rules  its rules for all, one a line (the caller's), or NULL when they are not known
 */
static bool same_sources(const struct control *c, const struct config *config, char **ret_rules)
{
	char path[PATH_SIZE], *want = sources_text(config, false), *have = NULL, *rules;
	size_t size = 0;
	bool same = false;
	FILE *f;

	*ret_rules = NULL;
	state_path(c, "filter.sources", path);
	f = file_stream(path);
	if (f && want && getdelim(&have, &size, '\0', f) >= 0 && !strncmp(have, want, strlen(want))) {
		rules = have + strlen(want);
		same = !*rules || !strncmp(rules, RULES_LINE, strlen(RULES_LINE));
		if (*rules && same)
			*ret_rules = strdup(rules + strlen(RULES_LINE));
	}
	if (f)
		fclose(f);
	free(have);
	free(want);
	return same;
}

/* Under its name it is whole or not there; rules are nobody else's business, as in state.db. */
static int write_sources(const struct control *c, const struct config *config, struct err_at *reterr)
{
	char path[PATH_SIZE], *text = sources_text(config, true);
	int err;

	if (!text)
		return err_why(reterr, -ENOMEM, "out of memory");
	state_path(c, "filter.sources", path);
	err = filter_replace(path, text, strlen(text), reterr);
	free(text);
	return err;
}

static int rename_in_state(const struct control *c, const char *from, const char *to, struct err_at *reterr)
{
	char a[PATH_SIZE], b[PATH_SIZE];

	state_path(c, from, a);
	state_path(c, to, b);
	return rename(a, b) ? err_why(reterr, -errno, "%s: cannot be renamed: %s", a, strerror(errno)) : 0;
}

/* Put what was compiled in the place of the filter on disk. */
static int replace_files(const struct control *c, const struct config *config, struct err_at *reterr)
{
	char path[PATH_SIZE];
	int err;

	state_path(c, "filter.sources", path);
	if (unlink(path) && errno != ENOENT)
		return err_why(reterr, -errno, "%s: cannot be removed: %s", path, strerror(errno));
	err = rename_in_state(c, "rules.next", "filter.rules", reterr);
	if (!err)
		err = rename_in_state(c, "filter.next", "filter.bin", reterr);
	return err ? err : write_sources(c, config, reterr);
}

/* What was compiled, and is not wanted: a full disk needs the room. */
static void remove_files(const struct control *c)
{
	char path[PATH_SIZE];

	state_path(c, "rules.next", path);
	unlink(path);
	state_path(c, "filter.next", path);
	unlink(path);
}

/* ---- in force ---- */

/* What blocked answers say, from the next filter on. */
static int publish_names(struct control *c, const struct config *config)
{
	struct sources s;
	char (*text)[96];
	const char **names;
	unsigned i;

	sources_number(config, &s);
	text = calloc(s.count, sizeof(*text));
	names = calloc(s.count, sizeof(*names));
	for (i = 0; text && names && i < s.count; i++)
		names[i] = sources_name(config, &s, i, text[i], sizeof(text[i]));
	if (text && names)
		kern_sources_publish(c->kern, names, s.count);
	free(text);
	free(names);
	return text && names ? 0 : -ENOMEM;
}

/* The parts of a judge but the view, from what was compiled (taken). */
static int make_judge(struct control *c, struct snapshot *s, struct compiled *made)
{
	struct sources n;

	sources_number(s->config, &n);
	s->owned.members = filter_members_copy(made->filter);
	s->owned.rules = made->rules;
	made->rules = NULL;
	s->judge.members = s->owned.members;
	s->judge.rules = s->owned.rules;
	s->judge.secret = &c->secret;
	s->judge.lists = n.lists;
	s->judge.rewrites = n.rewrites;
	s->judge.safe_search = n.safe_search;
	return s->owned.members ? 0 : -ENOMEM;
}

static void note_asked(struct control *c, uint64_t asked, uint64_t untold)
{
	c->filter_asked = asked;
	c->filter_untold = untold;
	if (asked)
		log_info("%" PRIu64 " names are on combinations of lists beyond the first %u: the kernel leaves them to the daemon",
			 asked, MR_SET_ASK - 1);
	if (untold)
		log_warn("%" PRIu64 " of them are beyond what the daemon keeps of such names too: they count as blocked in every "
			 "group, whatever its lists say of them", untold);
}

/* Turn the filter's sets into verdicts and put both in force; @made is taken, and @s on success. */
static int put_in_force(struct control *c, struct snapshot *s, struct compiled *made, struct err_at *reterr)
{
	uint64_t asked = made->asked, untold = made->untold;
	struct mr_verdict *v = NULL;
	bool mapped = false;
	int err;

	err = make_judge(c, s, made);
	if (!err)
		err = schedule_groups(s, schedule_now_s());
	if (!err)
		v = judge_verdicts(&s->judge);
	if (!err && !v)
		err = -ENOMEM;
	if (!err)
		err = publish_names(c, s->config);
	if (!err)
		err = snapshot_apply(c, s, made->filter, v, &mapped, reterr);
	if (!err && !mapped) {
		s->owned.filter = made->filter;
		s->owned.verdicts = v;
		made->filter = NULL;
		v = NULL;
	}
	if (!err)
		c->filter_bytes = mapped ? 0 : (s->judge.filter.unit->bucket_mask + 1ULL) * sizeof(struct mr_filter_bucket) +
						       (s->judge.filter.unit->bloom_mask + 1ULL) * sizeof(uint64_t);
	if (!err)
		note_asked(c, asked, untold);
	free(v);
	compiled_done(made);
	return err;
}

bool filter_load(struct control *c, struct snapshot *s)
{
	char path[PATH_SIZE], rules[PATH_SIZE], *of_file;
	struct err_at why = { 0 };
	struct compiled made = { 0 };
	bool loaded, wait;

	state_path(c, "filter.bin", path);
	state_path(c, "filter.rules", rules);
	loaded = same_sources(c, s->config, &of_file) && !compile_open(path, rules, &c->secret, &made, &why);
	/* What a run before has changed in its tables is not to be missing for a moment: packets wait at the sockets. */
	wait = loaded && of_file && kern_taken_over(c->kern);
	if (wait)
		kern_enable(c->kern, false);
	loaded = loaded && !put_in_force(c, s, &made, &why);
	if (loaded && of_file)
		edit_replay(c, s, of_file);
	if (wait)
		kern_enable(c->kern, true);
	free(of_file);
	return loaded;
}

/* ---- compiling ---- */

/*
 * Compile to disk, and open what stands there.  A disk that takes nothing must
 * not keep a daemon from starting: then the filter is in memory alone.
 */
static int finish(struct control *c, struct compile *to, enum feed_mode mode, struct filter_job *j, struct err_at *reterr)
{
	char path[PATH_SIZE], rules[PATH_SIZE];
	int err;

	state_path(c, "filter.next", path);
	state_path(c, "rules.next", rules);
	err_where(reterr, NULL, 0, "state");
	err = compile_finish(to, path, rules, &j->made, reterr);
	j->on_disk = !err;
	if (err)
		remove_files(c);
	if (!err || mode != FEED_ANYHOW || err == -ENOMEM)
		return err;
	log_warn("%s: the filter is in memory alone, and is compiled again at the next start", reterr->why);
	return compile_finish(to, NULL, NULL, &j->made, reterr);
}

int filter_prepare(struct control *c, const struct config *config, enum feed_mode mode, struct filter_job *ret,
		   struct err_at *reterr)
{
	struct filter_job j = { .states = calloc(config->filter_lists.count + 1, sizeof(*j.states)) };
	struct compile *to = compile_new(&c->secret);
	struct sources n;
	int err = -ENOMEM;

	if (!j.states || !to)
		goto out;
	sources_number(config, &n);
	compile_lists(to, n.lists);
	compile_local(to, n.rewrites);
	err = feed_all(c, config, mode, to, j.states, &j.bad_rules, reterr);
	if (!err)
		err = finish(c, to, mode, &j, reterr);
	if (err)
		goto out;
	*ret = j;
	j = (struct filter_job){ 0 };
out:
	compile_free(to);		/* before the copy into the maps: the peak counts */
	filter_job_done(c, &j);
	return err;
}

void filter_job_done(const struct control *c, struct filter_job *j)
{
	if (j->on_disk)
		remove_files(c);
	compiled_done(&j->made);
	left_outs_done(&j->bad_rules);
	free(j->states);
	*j = (struct filter_job){ 0 };
}

int filter_adopt(struct control *c, struct snapshot *s, struct filter_job *j, struct err_at *reterr)
{
	uint64_t limited = rules_regex_limited(j->made.rules);
	struct err_at why = { 0 };
	int err;

	err = put_in_force(c, s, &j->made, reterr);
	/* then: what the kernel refuses is not to be what the next start begins with */
	if (!err && j->on_disk) {
		if (replace_files(c, s->config, &why))
			log_warn("%s: the filter is compiled again at the next start", why.why);
		else
			j->on_disk = false;
	}
	if (!err) {
		if (limited)
			log_warn("regular expressions that take too many steps were tried %" PRIu64 " times while the "
				 "filter was made: there they match nothing", limited);
		free(c->lists);
		c->lists = j->states;
		j->states = NULL;
		c->edits = 0;
		left_outs_done(&c->bad_rules);
		c->bad_rules = j->bad_rules;
		j->bad_rules = (struct left_outs){ 0 };
	}
	filter_job_done(c, j);
	/* What compiling has freed, 32 MB for a million names, the C library would keep. */
	malloc_trim(0);
	return err;
}

int filter_compile(struct control *c, struct snapshot *s, enum feed_mode mode, struct err_at *reterr)
{
	struct filter_job j;
	int err = filter_prepare(c, s->config, mode, &j, reterr);

	return err ? err : filter_adopt(c, s, &j, reterr);
}
