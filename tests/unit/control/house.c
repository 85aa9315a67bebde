/* SPDX-License-Identifier: BSD-2-Clause */
/* house.c - a struct control without a packet path, for the tests of this folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "unit/control/house.h"

static struct kern *open_kern(const struct mr_secret *secret)
{
	struct kern_opts o = { .mode = KERN_OFF, .pin_root = "/sys/fs/bpf/millrace-unit-control", .answers = 1024 };
	struct kern *k = NULL;
	struct err_at e = { 0 };

	if (kern_open(&o, secret, &k, &e))
		fail_msg("%s", e.why);
	return k;
}

void open_house(struct house *h)
{
	struct mr_secret other;

	memset(h, 0, sizeof(*h));
	edges_init(&h->c.edges);
	strcpy(h->c.state, "/tmp/millrace-control-XXXXXX");
	assert_non_null(mkdtemp(h->c.state));
	memset(&h->c.secret, 7, sizeof(h->c.secret));
	h->c.secret.fingerprint = 7;
	other = h->c.secret;
	other.fingerprint = 8;
	h->ours = open_kern(&h->c.secret);
	h->strange = open_kern(&other);
	h->c.kern = h->ours;
	h->c.cache = cache_new(0, 0);
	assert_non_null(h->c.cache);
}

void close_house(struct house *h)
{
	static const char *const files[] = { "filter.bin", "filter.rules", "filter.sources", "filter.next", "rules.next" };
	char path[sizeof(h->c.state) + 32];
	unsigned i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->c.state, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(h->c.state), 0);
	edges_stop(&h->c.edges);
	snapshot_unref(h->c.snapshot);
	free(h->c.lists);
	free(h->c.list_names);
	cache_free(h->c.cache);
	kern_close(h->ours, true);
	kern_close(h->strange, true);
}

struct snapshot *say(struct house *h, const char *more)
{
	struct config_errors errs = { 0 };
	struct config *config = NULL;
	struct snapshot *s = NULL;
	struct err_at e = { 0 };
	char text[1000];

	snprintf(text, sizeof(text), "server:\n  listen: [\"127.0.0.1:5300\"]\n%s", more);
	if (config_load(text, strlen(text), "test", &config, &errs))
		fail_msg("%s", errs.at[0].why);
	assert_int_equal(snapshot_make(&h->c, config, &s, &e), 0);
	return s;
}

enum mr_verdict_kind ask(const struct snapshot *s, const char *wire)
{
	struct judge_question q = { .lower = (const uint8_t *)wire, .len = (uint16_t)(strlen(wire) + 1), .qtype = 1 };
	struct judge_result r;

	judge_name(&s->judge, &q, &r);
	return r.kind;
}

