/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_overlay.c - objects made at run time beside those of the file.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "config/config.h"

#define FILE_NAME "/etc/millrace/x.yaml"
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* What the file has in all tests. */
static const char file[] =
	"filter:\n"
	"  lists:\n"
	"  - { name: ads, file: ads.txt }\n"
	"  rules: [\"||x.example^\"]\n"
	"  rewrites: [{ name: a.example, answers: [192.0.2.1] }]\n"
	"clients: [{ name: tablet, addresses: [192.0.2.7] }]\n"
	"groups:\n"
	"- { name: kids, clients: [192.0.2.0/24], rules: [\"||k.example^\"] }\n";

static struct config *load(const char *text)
{
	struct config_errors errs;
	struct config *c = NULL;

	assert_int_equal(config_load(text, strlen(text), FILE_NAME, &c, &errs), 0);
	return c;
}

static const struct bad {
	const char *name, *kind, *object, *json;
	int err;
	const char *key, *why;
} bad[] = {
	{ "list of the file", "list", "ads", "{\"file\": \"/x\"}", -EEXIST, "list ads", "managed by the configuration's file (/etc/millrace/x.yaml, line 3)" },
	{ "rule of the file", "rule", "1", "\"||x.example^\"", -EEXIST, "rule 1", "managed by" },
	{ "rewrite of the file", "rewrite", "a.example", "{\"answers\": [\"192.0.2.2\"]}", -EEXIST, "rewrite a.example", "managed by" },
	{ "client of the file", "client", "tablet", "{\"addresses\": [\"192.0.2.2\"]}", -EEXIST, "client tablet", "managed by" },
	{ "group of the file", "group", "kids", "{}", -EEXIST, "group kids", "managed by" },
	{ "rule of the file's group", "group rule", "kids ||k.example^", "{\"group\": \"kids\", \"rule\": \"||k.example^\"}", -EEXIST,
	  "group rule kids ||k.example^", "managed by" },
	{ "rule of no group", "group rule", "x y", "{\"group\": \"x\", \"rule\": \"y\"}", -EINVAL, "group rule x y", "there is no group \"x\"" },
	{ "rule of a group without its group", "group rule", "x y", "{\"rule\": \"y\"}", -EINVAL, "group rule x y", "expected { group:, rule: }" },
	{ "rule of a group by another name", "group rule", "kids z", "{\"group\": \"kids\", \"rule\": \"y\"}", -EINVAL, "group rule kids z",
	  "as it is called elsewhere" },
	{ "rule of a group that is a list", "group rule", "kids z", "{\"group\": \"kids\", \"rule\": []}", -EINVAL, "group rule kids z", "not a list" },
	{ "unknown kind", "zone", "x", "{}", -EINVAL, "zone x", "expected a list, rule, rewrite, client, group or group rule" },
	{ "no JSON", "list", "x", "{", -EINVAL, "", "not YAML" },
	{ "nothing", "list", "x", "", -EINVAL, "list x", "expected an object" },
	{ "text for a list", "list", "x", "\"x\"", -EINVAL, "list x", "expected a map" },
	{ "unknown key", "list", "x", "{\"flie\": \"/x\"}", -EINVAL, "list x", "did you mean \"file\"" },
	{ "relative file", "list", "x", "{\"file\": \"x\"}", -EINVAL, "list x.file", "begins with '/'" },
	{ "bad url", "list", "x", "{\"url\": \"x\"}", -EINVAL, "list x.url", "http://" },
	{ "another name inside", "list", "x", "{\"name\": \"y\", \"file\": \"/x\"}", -EINVAL, "list x.name", "expected \"x\"" },
	{ "bad name", "list", "a b", "{\"file\": \"/x\"}", -EINVAL, "list a b.name", "a name of letters" },
	{ "taken name", "list", "rules", "{\"file\": \"/x\"}", -EINVAL, "list rules.name", "another name" },
	{ "rule that is a list", "rule", "1", "[]", -EINVAL, "rule 1", "not a list" },
	{ "rule without its key", "rule", "1", "{}", -EINVAL, "rule 1", "rule is missing" },
	{ "rewrite of an address", "rewrite", "192.0.2.1", "{\"answers\": [\"192.0.2.2\"]}", -EINVAL, "rewrite 192.0.2.1.name", "it is an address" },
	{ "bad client", "client", "x", "{\"addresses\": [\"x\"]}", -EINVAL, "client x.addresses[0]", "expected an address" },
	{ "bad schedule of a group", "group", "x", "{\"schedules\": [{\"zone\": \"Mars/Base\"}]}", -EINVAL, "group x.schedules[0].zone", "none of that name" },
};

static void is_refused(void **state)
{
	const struct bad *t = *state;
	struct config_errors errs = { 0 };
	struct config *c = load(file);
	unsigned before = c->filter_lists.count + c->filter_rules.count + c->filter_rewrites.count + c->clients.count + c->groups.count;

	assert_int_equal(config_overlay(c, t->kind, t->object, t->json, &errs), t->err);
	assert_int_equal(errs.count, 1);
	assert_string_equal(errs.at[0].key, t->key);
	if (!strstr(errs.at[0].why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, errs.at[0].why);
	assert_string_equal(errs.at[0].file, "");
	/* nothing was added */
	assert_int_equal(c->filter_lists.count + c->filter_rules.count + c->filter_rewrites.count + c->clients.count + c->groups.count, before);
	errs.count = 0;
	assert_int_equal(config_check_whole(c, &errs), 0);
	config_free(c);
}

/* ---- what only the whole shows ---- */

static const struct whole {
	const char *name, *kind, *object, *json;
	const char *key, *why;
} wholes[] = {
	{ "group with a list that is not there", "group", "x", "{\"lists\": [\"adz\"]}", "group x.lists", "did you mean \"ads\"" },
	{ "group with a client that is not there", "group", "x", "{\"clients\": [\"tab\"]}", "group x.clients[0]", "not \"tab\"" },
	{ "group with a client of another", "group", "x", "{\"clients\": [\"192.0.2.0/24\"]}", "group x.clients[0]", "in the group \"kids\" already" },
	{ "group's custom without addresses", "group", "x", "{\"block\": {\"mode\": \"custom\"}}", "group x.block.mode", "custom needs" },
	{ "client with an address of another", "client", "x", "{\"addresses\": [\"192.0.2.7\"]}", "client x.addresses[0]", "in the client \"tablet\"" },
};

static void whole_is_refused(void **state)
{
	const struct whole *t = *state;
	struct config_errors errs = { 0 };
	struct config *c = load(file);

	assert_int_equal(config_overlay(c, t->kind, t->object, t->json, &errs), 0);
	assert_int_equal(config_check_whole(c, &errs), -EINVAL);
	assert_int_equal(errs.count, 1);
	assert_string_equal(errs.at[0].key, t->key);
	if (!strstr(errs.at[0].why, t->why))
		fail_msg("\"%s\" is not in \"%s\"", t->why, errs.at[0].why);
	config_free(c);
}

/* ---- good ones ---- */

static void add(struct config *c, const char *kind, const char *name, const char *json)
{
	struct config_errors errs = { 0 };
	char text[800];

	if (config_overlay(c, kind, name, json, &errs))
		fail_msg("%s", errs.count ? err_text(&errs.at[0], text, sizeof(text)) : "no reason given");
}

static void objects_of_both_origins_know_each_other(void **state)
{
	struct config_errors errs = { 0 };
	struct config *c = load(file);
	const struct config_group *g;

	/* what is named may come later */
	add(c, "group", "guests", "{\"clients\": [\"tablet\", \"phone\"], \"lists\": [\"more\", \"ads\"], \"rules\": [\"||y.example^\"],"
				  " \"schedules\": [{\"lists\": [\"more\"], \"zone\": \"UTC\"}]}");
	add(c, "list", "more", "{\"url\": \"https://example.org/\", \"refresh\": \"2h\", \"name\": \"more\"}");
	add(c, "client", "phone", "{\"addresses\": [\"mac:02:00:00:00:00:01\"]}");
	add(c, "rule", "1", "\"@@||z.example^\"");
	add(c, "rule", "2", "{\"rule\": \"||w.example^\"}");
	add(c, "rewrite", "*.b.example", "{\"answers\": [\"a.example\"]}");
	add(c, "rewrite", "b.example", "{\"answers\": [\"192.0.2.3\"], \"ttl\": 5}");
	assert_int_equal(config_check_whole(c, &errs), 0);
	assert_int_equal(errs.count, 0);

	assert_int_equal(c->groups.count, 3);
	g = &c->groups.at[0];
	assert_string_equal(g->name, "default");
	assert_true(g->lists == 2 && g->uses[0] && g->uses[1]);
	assert_true(c->groups.at[1].uses[0] && c->groups.at[1].uses[1]);
	g = &c->groups.at[2];
	assert_string_equal(g->name, "guests");
	assert_int_equal(g->origin, CONFIG_FROM_STATE);
	assert_int_equal(g->place.line, 0);
	assert_true(g->uses[0] && g->uses[1] && g->schedules.at[0].uses[1] && !g->schedules.at[0].uses[0]);
	assert_int_equal(g->clients.at[0].client, 0);
	assert_int_equal(g->clients.at[1].client, 1);
	assert_int_equal(c->filter_lists.at[1].origin, CONFIG_FROM_STATE);
	assert_int_equal(c->filter_lists.at[0].origin, CONFIG_FROM_FILE);
	assert_int_equal(c->filter_lists.at[1].refresh_s, 7200);
	assert_int_equal(c->filter_rules.count, 3);
	assert_string_equal(c->filter_rules.at[2].text, "||w.example^");
	assert_int_equal(c->filter_rules.at[2].origin, CONFIG_FROM_STATE);
	assert_int_equal(c->filter_rewrites.count, 3);
	assert_true(c->filter_rewrites.at[1].below && !c->filter_rewrites.at[2].below);
	/* and once more comes to the same */
	assert_int_equal(config_check_whole(c, &errs), 0);
	assert_int_equal(c->groups.count, 3);
	config_free(c);
}

static void a_group_gets_rules_beside_its_own(void **state)
{
	struct config_errors errs = { 0 };
	struct config *c = load(file);
	const struct config_group *g = &c->groups.at[1];

	add(c, "group rule", "kids ||a.example^", "{\"group\": \"kids\", \"rule\": \"||a.example^\"}");
	add(c, "group rule", "default ||a.example^", "{\"rule\": \"||a.example^\", \"group\": \"default\"}");
	assert_int_equal(config_overlay(c, "group rule", "kids ||a.example^",
					"{\"group\": \"kids\", \"rule\": \"||a.example^\"}", &errs), -EEXIST);
	assert_string_equal(errs.at[0].why, "is there already");
	errs.count = 0;
	assert_int_equal(config_check_whole(c, &errs), 0);
	assert_int_equal(c->groups.at[0].rules.count, 1);
	assert_int_equal(g->rules.count, 2);
	assert_false(g->rules.at[0].added);
	assert_true(g->rules.at[1].added && g->rules.at[1].origin == CONFIG_FROM_STATE);
	assert_string_equal(g->rules.at[1].text, "||a.example^");
	config_free(c);
}

static void the_same_name_twice_is_refused(void **state)
{
	struct config_errors errs = { 0 };
	struct config *c = load("");

	add(c, "list", "x", "{\"file\": \"/x\"}");
	assert_int_equal(config_overlay(c, "list", "x", "{\"file\": \"/y\"}", &errs), -EEXIST);
	assert_string_equal(errs.at[0].why, "is there already");
	config_free(c);
}

static void the_group_default_that_nobody_wrote_can_be_made(void **state)
{
	struct config_errors errs = { 0 };
	struct config *c = load("filter: { lists: [{ name: ads, file: x }] }");

	add(c, "group", "default", "{\"lists\": []}");
	assert_int_equal(config_check_whole(c, &errs), 0);
	assert_int_equal(c->groups.count, 1);
	assert_int_equal(c->groups.at[0].origin, CONFIG_FROM_STATE);
	assert_false(c->groups.at[0].uses[0]);
	config_free(c);
}

static void the_group_default_of_the_file_is_the_file_s(void **state)
{
	struct config_errors errs = { 0 };
	struct config *c = load("groups: [{ name: default }]");

	assert_int_equal(config_overlay(c, "group", "default", "{\"lists\": []}", &errs), -EEXIST);
	config_free(c);
}

static void sources_are_bounded_with_all_their_sets(void **state)
{
	struct config_errors errs = { 0 };
	struct config *c = load("groups: [{ name: a, rules: [x.example] }]");
	char name[16];
	int i;

	for (i = 0; i < CONFIG_SOURCES_MAX - 4; i++) {
		sprintf(name, "l%d", i);
		add(c, "list", name, "{\"file\": \"/x\"}");
	}
	assert_int_equal(config_check_whole(c, &errs), 0);
	add(c, "list", "one-more", "{\"file\": \"/x\"}");
	assert_int_equal(config_check_whole(c, &errs), -EINVAL);
	assert_string_equal(errs.at[0].key, "filter.lists");
	assert_non_null(strstr(errs.at[0].why, "at most 1020 lists beside the sets of rules, there are 1021"));
	config_free(c);
}

static const struct bounded {
	const char *name, *kind, *form, *json;
	unsigned max;
} bounded[] = {
	{ "groups are bounded, and the group default is one", "group", "g%u", "{}", CONFIG_GROUPS_MAX - 1 },
	{ "rules are bounded", "rule", "||n%u.example^", "\"||n%u.example^\"", CONFIG_RULES_MAX },
	{ "local names are bounded", "rewrite", "n%u.example", "{\"answers\": [\"192.0.2.1\"]}", CONFIG_REWRITES_MAX },
	{ "clients are bounded", "client", "c%u", "{\"addresses\": [\"fd00::%x\"]}", CONFIG_CLIENTS_MAX },
};

/* The one that is too many is named. */
static void is_bounded(void **state)
{
	const struct bounded *t = *state;
	struct config_errors errs = { 0 };
	struct config *c = load("");
	char name[32], json[64], why[80];
	unsigned i;

	for (i = 0; i <= t->max; i++) {
		snprintf(name, sizeof(name), t->form, i);
		snprintf(json, sizeof(json), t->json, i);
		if (i < t->max)
			add(c, t->kind, name, json);
	}
	assert_int_equal(config_check_whole(c, &errs), 0);
	assert_int_equal(config_overlay(c, t->kind, name, json, &errs), -EINVAL);
	snprintf(json, sizeof(json), "%s %s", t->kind, name);
	assert_string_equal(errs.at[0].key, json);
	snprintf(why, sizeof(why), "expected at most %u %ss, those of the file too",
		 t->max + !strcmp(t->kind, "group"), t->kind);
	assert_string_equal(errs.at[0].why, why);
	assert_int_equal(config_check_whole(c, &errs), 0);
	config_free(c);
}

int main(void)
{
	static struct CMUnitTest tests[COUNT_OF(bad) + COUNT_OF(wholes) + COUNT_OF(bounded) + 6] = {
		cmocka_unit_test(objects_of_both_origins_know_each_other),
		cmocka_unit_test(a_group_gets_rules_beside_its_own),
		cmocka_unit_test(the_same_name_twice_is_refused),
		cmocka_unit_test(the_group_default_that_nobody_wrote_can_be_made),
		cmocka_unit_test(the_group_default_of_the_file_is_the_file_s),
		cmocka_unit_test(sources_are_bounded_with_all_their_sets),
	};
	size_t n = 6, i;

	for (i = 0; i < COUNT_OF(bounded); i++)
		tests[n++] = (struct CMUnitTest){ bounded[i].name, is_bounded, NULL, NULL, (void *)&bounded[i] };
	for (i = 0; i < COUNT_OF(bad); i++)
		tests[n++] = (struct CMUnitTest){ bad[i].name, is_refused, NULL, NULL, (void *)&bad[i] };
	for (i = 0; i < COUNT_OF(wholes); i++)
		tests[n++] = (struct CMUnitTest){ wholes[i].name, whole_is_refused, NULL, NULL, (void *)&wholes[i] };
	return cmocka_run_group_tests_name("overlay", tests, NULL, NULL);
}
