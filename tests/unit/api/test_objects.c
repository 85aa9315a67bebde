/* SPDX-License-Identifier: BSD-2-Clause */
/* test_objects.c - lists, rules, rewrites, clients, groups and pauses over the API, with a fake control behind it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/request.h"
#include "unit/api/fake.h"

#define V "/api/v1"

static struct api *api;

static int start(void **state)
{
	fake_reset();
	api = fake_start();
	return 0;
}

static int stop(void **state)
{
	api_stop(api);
	return 0;
}

static const struct object_case {
	const char *name;
	const char *method;
	const char *path;
	const char *body;
	int error;			/* control's */
	unsigned status;
	const char *member;		/* of the answer */
	const char *value;
	const char *asked;		/* of control: "what kind name json"; "" nothing */
} cases[] = {
	/* shown */
	{ "a list has its own path", "GET", V "/lists/starter", NULL, 0, 200, "names", "13", "" },
	{ "a list that is not there is not found", "GET", V "/lists/nothing", NULL, 0, 404, "error.where", "nothing", "" },
	{ "rules for all are shown with their line", "GET", V "/rules", NULL, 0, 200, "rules.0",
	  "{\"rule\":\"||tracker.example^\",\"group\":null,\"origin\":\"file\",\"line\":2}", "" },
	{ "rules of a group name it", "GET", V "/rules", NULL, 0, 200, "rules.2.group", "kids", "" },
	{ "a rule made at run time has no line", "GET", V "/rules", NULL, 0, 200, "rules.1",
	  "{\"rule\":\"||run.example^\",\"group\":null,\"origin\":\"state\",\"line\":null}", "" },
	{ "rewrites show addresses and TTL", "GET", V "/rewrites", NULL, 0, 200, "rewrites.0",
	  "{\"name\":\"printer.home.example\",\"answers\":[\"192.168.1.5\",\"fd00::5\"],\"ttl\":300,\"origin\":\"file\"}", "" },
	{ "a rewrite for all below has its star", "GET", V "/rewrites", NULL, 0, 200, "rewrites.1.name", "*.dev.example", "" },
	{ "an alias shows its target", "GET", V "/rewrites", NULL, 0, 200, "rewrites.1.answers", "[\"dev.example\"]", "" },
	{ "clients show addresses of both kinds", "GET", V "/clients", NULL, 0, 200, "clients.0.addresses",
	  "[\"192.168.1.7\",\"mac:02:00:00:00:00:01\"]", "" },
	{ "a client has its own path", "GET", V "/clients/tablet", NULL, 0, 200, "tags", "[\"device_tablet\"]", "" },
	{ "a client that is not there is not found", "GET", V "/clients/x", NULL, 0, 404, "error.what",
	  "there is no client of this name", "" },
	{ "the default group is shown", "GET", V "/groups", NULL, 0, 200, "groups.0.name", "default", "" },
	{ "a group that uses all lists says null", "GET", V "/groups", NULL, 0, 200, "groups.0.lists", "null", "" },
	{ "a group shows its lists", "GET", V "/groups/kids", NULL, 0, 200, "lists", "[\"ads\"]", "" },
	{ "a group shows names and prefixes of clients", "GET", V "/groups/kids", NULL, 0, 200, "clients",
	  "[\"192.168.1.0/25\",\"tablet\"]", "" },
	{ "a group shows what of blocks is its own", "GET", V "/groups/kids", NULL, 0, 200, "block", "{\"mode\":\"nxdomain\"}", "" },
	{ "a group shows types without answer", "GET", V "/groups/kids", NULL, 0, 200, "no_types", "[\"AAAA\"]", "" },
	{ "a group shows its schedules", "GET", V "/groups/kids", NULL, 0, 200, "schedules.0",
	  "{\"days\":[\"mon\",\"tue\"],\"from\":\"21:00\",\"to\":\"07:00\",\"lists\":[\"all\"],\"zone\":\"Europe/Berlin\"}", "" },
	{ "a group that is not there is not found", "GET", V "/groups/x", NULL, 0, 404, "error.status", "404", "" },
	{ "a stopping daemon shows nothing", "GET", V "/groups", NULL, -ESHUTDOWN, 503, "error.status", "503", "" },
	/* made and taken away */
	{ "a rule is made", "POST", V "/rules", "{\"rule\":\"||a.example^\"}", 0, 200, "done", "put",
	  "make rule ||a.example^ {\"rule\":\"||a.example^\"}" },
	{ "rules of one group are shown alone", "GET", V "/rules?group=kids", NULL, 0, 200, "rules",
	  "[{\"rule\":\"||games.example^\",\"group\":\"kids\",\"origin\":\"file\",\"line\":12},"
	  "{\"rule\":\"||kid.example^\",\"group\":\"kids\",\"origin\":\"state\",\"line\":null}]", "" },
	{ "a group shows what was added to it apart", "GET", V "/groups/kids", NULL, 0, 200, "added_rules", "[\"||kid.example^\"]", "" },
	{ "a rule is made for a group", "POST", V "/rules", "{\"rule\":\"||a.example^\",\"group\":\"kids\"}", 0, 200, "group", "kids",
	  "make group rule kids ||a.example^ {\"rule\":\"||a.example^\",\"group\":\"kids\"}" },
	{ "a group that is no text is refused", "POST", V "/rules", "{\"rule\":\"a\",\"group\":3}", 0, 400, "error.where", "group", "" },
	{ "a rule of a group is taken away", "DELETE", V "/rules?rule=a&group=kids", NULL, 0, 200, "kind", "rule",
	  "delete group rule kids a " },
	{ "a rule of a group that is not there is not found", "DELETE", V "/rules?rule=a&group=kids", NULL, -ENOENT, 404,
	  "error.status", "404", "delete group rule kids a " },
	{ "a rule needs its text", "POST", V "/rules", "{\"rules\":\"x\"}", 0, 400, "error.where", "rule", "" },
	{ "a rule that is a number is refused", "POST", V "/rules", "{\"rule\":3}", 0, 400, "error.where", "rule", "" },
	{ "a rule is taken away", "DELETE", V "/rules?rule=%7C%7Ca.example%5E", NULL, 0, 200, "done", "deleted",
	  "delete rule ||a.example^ " },
	{ "a rule to take away must be named", "DELETE", V "/rules", NULL, 0, 400, "error.where", "rule", "" },
	{ "a list is made of the whole body", "POST", V "/lists", "{\"name\":\"x\",\"url\":\"https://l.example/\"}", 0, 200, "name", "x",
	  "make list x {\"name\":\"x\",\"url\":\"https://l.example/\"}" },
	{ "a list is taken away", "DELETE", V "/lists/x", NULL, 0, 200, "kind", "list", "delete list x " },
	{ "a list is fetched", "POST", V "/lists/x/refresh", NULL, 0, 200, "list", "x", "refresh x" },
	{ "all lists are fetched", "POST", V "/refresh", NULL, 0, 200, "list", "null", "refresh (all)" },
	{ "a local name has one spelling", "PUT", V "/rewrites/*.A.Test.", "{}", 0, 200, "name", "*.a.test", "put rewrite *.a.test {}" },
	{ "a local name goes by any spelling", "DELETE", V "/rewrites/A.test.", NULL, 0, 200, "name", "a.test", "delete rewrite a.test " },
	{ "a group is put", "PUT", V "/groups/kids", "{\"lists\":[]}", 0, 200, "name", "kids", "put group kids {\"lists\":[]}" },
	{ "a group is patched", "PATCH", V "/groups/kids", "{\"lists\":null,\"block\":{\"mode\":null,\"ttl\":5},\"no_types\":[],"
	  "\"schedules\":null,\"clients\":null}", 0, 200, "name", "kids",
	  "put group kids {\"rules\":[\"||games.example^\"],\"block\":{\"ttl\":5},\"safe_search\":false,\"no_types\":[]}" },
	{ "a patch makes a group", "PATCH", V "/groups/new", "{\"safe_search\":true,\"block\":{\"ttl\":null}}", 0, 200, "name", "new",
	  "put group new {\"safe_search\":true,\"block\":{}}" },
	{ "a group is deleted", "DELETE", V "/groups/kids", NULL, 0, 200, "name", "kids", "delete group kids " },
	{ "a client is put", "PUT", V "/clients/t", "{}", 0, 200, "kind", "client", "put client t {}" },
	{ "a name in a path is unescaped", "PUT", V "/rewrites/%2A.dev.example", "{}", 0, 200, "name", "*.dev.example",
	  "put rewrite *.dev.example {}" },
	{ "letters beyond ASCII arrive", "PUT", V "/groups/b%C3%BCro", "{\"x\":\"\\u00fc\"}", 0, 200, "name", "b\xc3\xbcro",
	  "put group b\xc3\xbcro {\"x\":\"\xc3\xbc\"}" },
	/* refused by control */
	{ "what the file manages is a conflict", "PUT", V "/groups/kids", "{}", -EPERM, 409, "error.why", "because", "put group kids {}" },
	{ "what is there already is a conflict", "POST", V "/rules", "{\"rule\":\"a\"}", -EEXIST, 409, "error.what",
	  "nothing was changed: because", "make rule a {\"rule\":\"a\"}" },
	{ "what is not there is not found", "DELETE", V "/groups/kids", NULL, -ENOENT, 404, "error.why", "because", "delete group kids " },
	{ "what cannot be is unprocessable", "PUT", V "/groups/kids", "{}", -EINVAL, 422, "error.key", "lists", "put group kids {}" },
	{ "a full disk is said", "PUT", V "/groups/kids", "{}", -ENOSPC, 507, "error.status", "507", "put group kids {}" },
	{ "a read-only disk is said", "PUT", V "/groups/kids", "{}", -EROFS, 500, "error.status", "500", "put group kids {}" },
	{ "a daemon that stops changes nothing", "PUT", V "/groups/kids", "{}", -ESHUTDOWN, 503, "error.status", "503", "put group kids {}" },
	/* bodies */
	{ "a missing body is said", "PUT", V "/groups/kids", NULL, 0, 400, "error.what", "the body is missing", "" },
	{ "a body that is no JSON is refused", "PUT", V "/groups/kids", "{\"a\":", 0, 400, "error.where", "body", "" },
	{ "a body that is no object is refused", "PUT", V "/groups/kids", "[]", 0, 400, "error.what", "the body is JSON, but no object", "" },
	{ "two values of one key are refused", "PUT", V "/groups/kids", "{\"a\":1,\"a\":2}", 0, 400, "error.where", "body", "" },
	{ "what follows the object is refused", "PUT", V "/groups/kids", "{} {}", 0, 400, "error.where", "body", "" },
	{ "an escaped zero is refused", "PUT", V "/groups/kids", "{\"a\":\"\\u0000\"}", 0, 400, "error.where", "body", "" },
	{ "eight levels are taken", "PUT", V "/groups/kids", "{\"a\":[[[[[[[1]]]]]]]}", 0, 200, "done", "put",
	  "put group kids {\"a\":[[[[[[[1]]]]]]]}" },
	{ "nine levels are refused", "PUT", V "/groups/kids", "{\"a\":[[[[[[[[1]]]]]]]]}", 0, 400, "error.what",
	  "arrays and objects of the body stand more than 8 deep in one another", "" },
	{ "brackets in texts are not levels", "PUT", V "/groups/kids", "{\"a\":\"[[[[[[[[[[\\\"[[\"}", 0, 200, "done", "put",
	  "put group kids {\"a\":\"[[[[[[[[[[\\\"[[\"}" },
	{ "a body where none is taken is refused", "POST", V "/lists/x/refresh", "{}", 0, 400, "error.expected", "no body", "" },
	/* paths */
	{ "an empty name is no path", "PUT", V "/groups/", "{}", 0, 404, "error.status", "404", "" },
	{ "a name is one segment", "PUT", V "/groups/a/b", "{}", 0, 404, "error.status", "404", "" },
	{ "a slash that is escaped does not make a name", "PUT", V "/groups/a%2Fb", "{}", 0, 404, "error.status", "404", "" },
	{ "several methods of a path are named", "POST", V "/groups/kids", "{}", 0, 405, "error.expected", "GET, PUT, PATCH, DELETE", "" },
	{ "a method of another path is refused", "POST", V "/groups", "{}", 0, 405, "error.expected", "GET", "" },
	/* pauses */
	{ "a pause for all", "POST", V "/pause", "{\"seconds\":300}", 0, 200, "paused", "true", "pause all  300" },
	{ "a pause without end", "POST", V "/pause", "{}", 0, 200, "scope", "all", "pause all  0" },
	{ "a pause for a group", "POST", V "/pause", "{\"scope\":\"group\",\"name\":\"kids\",\"seconds\":1}", 0, 200, "name", "kids",
	  "pause group kids 1" },
	{ "a pause for a client", "POST", V "/pause", "{\"scope\":\"client\",\"name\":\"192.0.2.1\"}", 0, 200, "name", "192.0.2.1",
	  "pause client 192.0.2.1 0" },
	{ "a pause for a group needs its name", "POST", V "/pause", "{\"scope\":\"group\"}", 0, 400, "error.where", "name", "" },
	{ "a pause for all has no name", "POST", V "/pause", "{\"name\":\"kids\"}", 0, 400, "error.where", "name", "" },
	{ "an unknown scope is refused", "POST", V "/pause", "{\"scope\":\"world\"}", 0, 400, "error.expected", "all, group or client", "" },
	{ "a negative pause is refused", "POST", V "/pause", "{\"seconds\":-1}", 0, 400, "error.where", "seconds", "" },
	{ "a pause of more than a year is refused", "POST", V "/pause", "{\"seconds\":31622401}", 0, 400, "error.where", "seconds", "" },
	{ "an unknown member of a pause is refused", "POST", V "/pause", "{\"minutes\":5}", 0, 400, "error.where", "minutes", "" },
	{ "a pause ends", "DELETE", V "/pause", NULL, 0, 200, "paused", "false", "resume all " },
	{ "a pause of a group ends", "DELETE", V "/pause?scope=group&name=kids", NULL, 0, 200, "name", "kids", "resume group kids" },
	{ "a pause that is not there is not found", "DELETE", V "/pause", NULL, -ENOENT, 404, "error.status", "404", "resume all " },
	{ "pauses are shown with what is left", "GET", V "/pause", NULL, 0, 200, "pauses.0",
	  "{\"scope\":\"group\",\"name\":\"kids\",\"left_s\":90}", "" },
	{ "a pause without end has no time left", "GET", V "/pause", NULL, 0, 200, "pauses.1.left_s", "null", "" },
};

static void run_case(void **state)
{
	const struct object_case *c = *state;
	json_t *o = NULL;
	char buf[8192];

	fake_reset();
	fake.error = c->error;
	assert_int_equal(ask_with(c->method, c->path, c->body, &o), c->status);
	assert_non_null(o);
	assert_string_equal(at(o, c->member, buf, sizeof(buf)), c->value);
	assert_string_equal(fake.asked, c->asked);
	json_decref(o);
	fake_reset();
}

/* What GET shows of a group can be sent again. */
static void a_group_shown_can_be_put_again(void **state)
{
	json_t *shown = NULL, *o = NULL;
	char *text;

	fake_reset();
	assert_int_equal(ask("GET", V "/groups/kids", &shown), 200);
	json_object_del(shown, "origin");
	json_object_del(shown, "name");
	text = json_dumps(shown, JSON_COMPACT);
	fake.check = true;
	if (ask_with("PUT", V "/groups/again", text, &o) != 200)
		fail_msg("%s", fake.check_why);
	free(text);
	json_decref(shown);
	json_decref(o);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_group_shown_can_be_put_again),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct CMUnitTest all[COUNT(cases) + COUNT(tests)];
	size_t i;

	for (i = 0; i < COUNT(cases); i++)
		all[i] = (struct CMUnitTest){ cases[i].name, run_case, NULL, NULL, (void *)&cases[i] };
	memcpy(all + i, tests, sizeof(tests));
	return _cmocka_run_group_tests("api/objects", all, COUNT(all), start, stop);
}
