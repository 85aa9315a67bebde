/* SPDX-License-Identifier: BSD-2-Clause */
/* court.c - items compiled and names judged, as court.h says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "unit/policy/court.h"
#include "unit/policy/names.h"
#include "unit/policy/rig.h"

void court_init(struct court *c)
{
	memset(c, 0, sizeof(*c));
	memset((void *)c->uses, 1, sizeof(c->uses));
	c->compile = compile_new(&secret);
	assert_non_null(c->compile);
	compile_local(c->compile, COURT_LOCAL);
}

static void say_client(struct rule_condition *c, const char *text)
{
	struct rule_client *to = &c->client[c->clients++];

	to->not = *text == '~';
	text += to->not;
	if (addr_prefix_parse(text, &to->prefix) == 0) {
		to->kind = RULE_CLIENT_PREFIX;
		return;
	}
	to->kind = RULE_CLIENT_NAME;
	strcpy(to->name, text);
}

static bool say_condition(const struct said *s, struct rule_condition *c, uint8_t *deny)
{
	memset(c, 0, sizeof(*c));
	if (s->type)
		c->type[c->types++] = s->type;
	c->types_not = s->type_not;
	if (s->client)
		say_client(c, s->client);
	if (s->tag) {
		c->tag_not[0] = *s->tag == '~';
		strcpy(c->tag[c->tags++], s->tag + c->tag_not[0]);
	}
	if (s->deny) {
		c->deny[0] = deny;
		c->deny_len[c->denies++] = name_wire(s->deny, deny);
	}
	return s->type || s->client || s->tag || s->deny;
}

static bool say_answer(const struct said *s, struct rule_answer *a, uint8_t *rdata)
{
	static const enum rule_answer_kind kinds[] = {
		[SAID_ANY] = RULE_ANSWER_ANY, [SAID_RCODE] = RULE_ANSWER_RCODE, [SAID_RECORD] = RULE_ANSWER_RECORD,
		[SAID_CNAME] = RULE_ANSWER_CNAME, [SAID_DROP] = RULE_ANSWER_DROP,
	};

	*a = (struct rule_answer){ .kind = kinds[s->answer], .rdata = rdata };
	if (s->answer == SAID_RCODE)
		a->rcode = (uint16_t)s->value;
	if (s->answer == SAID_CNAME)
		a->rdata_len = name_wire("alias.example", rdata);
	if (s->answer == SAID_RECORD) {
		a->type = 1;
		a->rdata_len = 4;
		memcpy(rdata, &s->value, 4);
	}
	return s->answer != SAID_BLOCK;
}

int court_say(struct court *c, const struct said *s)
{
	static struct rule_condition condition;
	uint8_t name[300], deny[300], rdata[300];
	struct rule_answer answer;
	struct rule_item i = {
		.kind = s->kind, .action = s->action ? s->action : FILTER_BLOCK, .reach = s->reach, .badfilter = s->bad,
		.invert = s->invert, .line = s->line, .text = s->name, .text_len = strlen(s->name),
	};

	if (s->kind == RULE_REGEX) {
		i.pattern = s->name;
		i.pattern_len = strlen(s->name);
	} else if (s->kind == RULE_ADDRESS) {
		assert_int_equal(addr_prefix_parse(s->name, &i.address), 0);
	} else {
		i.name = name;
		i.name_len = name_wire(s->name, name);
	}
	if (say_condition(s, &condition, deny))
		i.condition = &condition;
	if (say_answer(s, &answer, rdata))
		i.answer = &answer;
	return compile_item(c->compile, s->source, &i);
}

void court_sit(struct court *c)
{
	unsigned g;

	uint32_t cells, i;

	free(c->verdicts);
	free(c->asking);
	c->unit = *filter_unit(c->made.filter);
	c->unit.groups = COURT_GROUPS;
	for (g = 0; g < COURT_GROUPS; g++)
		c->group[g] = (struct judge_group){ c->uses[g], COURT_SOURCES };
	if (!c->members)
		c->members = filter_members_copy(c->made.filter);
	c->judge = (struct judge){
		.filter = { .unit = &c->unit, .buckets = filter_buckets(c->made.filter), .bloom = filter_bloom(c->made.filter) },
		.members = c->members, .rules = c->made.rules, .secret = &secret, .group = c->group, .groups = COURT_GROUPS,
		.rewrites = COURT_LOCAL, .safe_search = COURT_SOURCES - 1,
	};
	c->verdicts = judge_verdicts(&c->judge);
	assert_non_null(c->members);
	assert_non_null(c->verdicts);
	c->judge.filter.verdicts = c->verdicts;
	cells = COURT_GROUPS * c->unit.sets;
	c->asking = calloc(cells + 1, sizeof(*c->asking));
	assert_non_null(c->asking);
	for (i = 0; i < cells; i++)
		c->asking[i].kind = MR_ASK;
}

void court_open(struct court *c)
{
	struct err_at e = { 0 };

	if (compile_finish(c->compile, NULL, NULL, &c->made, &e))
		fail_msg("%s", e.why);
	court_sit(c);
}

void court_close(struct court *c)
{
	free(c->verdicts);
	free(c->asking);
	filter_members_free(c->members);
	compiled_done(&c->made);
	compile_free(c->compile);
}

/* NULL when the name is too deep. */
static const struct mr_name *hashed(const uint8_t *wire, uint16_t len, struct mr_name *name)
{
	memset(name, 0, sizeof(*name));
	memcpy(name->text, wire, len);
	name->len = len;
	return mr_name_hash(name, &secret) ? NULL : name;
}

struct judge_result court_judge(const struct court *c, const char *name, uint16_t qtype, unsigned group, bool paused,
				const struct who *who)
{
	uint8_t wire[300];
	uint16_t len = name_wire(name, wire);
	struct mr_name hash;
	struct judge_question q = {
		.lower = wire, .len = len, .name = hashed(wire, len, &hash), .qtype = qtype, .group = group, .paused = paused,
		.who = who,
	};
	struct judge_result r;

	judge_name(&c->judge, &q, &r);
	return r;
}

struct judge_result court_judge_slowly(const struct court *c, const struct judge_question *q)
{
	struct judge j = c->judge;
	struct judge_result r;

	j.filter.verdicts = c->asking;
	judge_name(&j, q, &r);
	return r;
}

struct mr_decision court_kernel(const struct court *c, const char *name, unsigned group)
{
	const struct filter_view *v = &c->judge.filter;
	uint8_t wire[300];
	struct mr_name hash;
	uint16_t len = name_wire(name, wire);

	assert_non_null(hashed(wire, len, &hash));
	return mr_filter_decide(v->unit, v->buckets, (const __u64 *)v->bloom, v->verdicts, &hash, group);
}
