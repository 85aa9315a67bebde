/* SPDX-License-Identifier: BSD-2-Clause */
/* fake.c - control's functions for tests, and requests to the API in front of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "dns/name.h"
#include "net/http.h"
#include "policy/judge.h"
#include "resolve/query.h"
#include "unit/api/fake.h"

struct fake fake;
static struct control *const some_control = (struct control *)&fake;

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
}

/* ---- pictures ---- */

int control_status(struct control *c, struct control_status *s)
{
	if (fake.block) {
		atomic_fetch_add(&fake.waiting, 1);
		while (!atomic_load(&fake.refusing))
			usleep(1000);
		return -ESHUTDOWN;
	}
	snprintf(s->version, sizeof(s->version), "9.8.7");
	snprintf(s->config, sizeof(s->config), "/etc/\xff.yaml");
	snprintf(s->user, sizeof(s->user), "millrace");
	s->pid = 42;
	s->uptime_s = 3 * 86400 + 7200;
	s->workers = 2;
	s->listens = 2;
	addr_parse("127.0.0.1:53", 0, &s->listen[0]);
	addr_parse("[::1]:53", 0, &s->listen[1]);
	s->durable = (struct control_durable){ .configured = true, .open = true, .loaded = 12, .load_ms = 3, .bytes = 8192,
					       .bytes_max = 1 << 20, .note = "it was damaged" };
	s->servers = 1;
	snprintf(s->server[0], sizeof(s->server[0]), "192.0.2.1:53");
	s->kern.on = true;
	snprintf(s->kern.pins, sizeof(s->kern.pins), "/sys/fs/bpf/millrace/0011");
	s->kern.layout = 0xabc;
	s->kern.interfaces = 2;
	s->kern.iface[0] = (struct kern_iface_status){ .name = "eth0", .driver = "veth", .mode = KERN_NATIVE, .up = true };
	s->kern.iface[1] = (struct kern_iface_status){ .name = "eth1", .driver = "dumb", .mode = KERN_GENERIC,
						       .reason = "no native XDP; use another driver" };
	s->kern.note_count = 1;
	snprintf(s->kern.notes[0], sizeof(s->kern.notes[0]), "frames grow by at most 230 bytes");
	s->kern.answers_in_use = 1234;
	s->kern.answers_max = 200000;
	s->filter_entries = UINT64_MAX;
	s->filter_asked = 5000;
	s->filter_untold = 7;
	s->filter_special = 7;
	s->lists = 1;
	s->objects = 3;
	s->objects_left_out = 1;
	snprintf(s->objects_why, sizeof(s->objects_why), "group mine: managed by file");
	s->pauses = 1;
	s->rules_left_out = 1;
	s->left_out_shown = 2;
	s->left_out[0] = (struct control_left_out){ "group", "mine", "managed by file", CONFIG_FROM_STATE };
	s->left_out[1] = (struct control_left_out){ "rule", "||x^$y", "no such modifier", CONFIG_FROM_FILE };
	s->waiting = 2;
	s->wait[0] = "server.listen";
	s->wait[1] = "state";
	return fake.error;
}

int control_lists(struct control *c, struct control_list *l, unsigned max)
{
	struct list_report *r = &l->report;

	if (fake.error)
		return fake.error;
	snprintf(l->name, sizeof(l->name), "starter");
	snprintf(l->file, sizeof(l->file), "lists/starter.txt");
	l->loaded = true;
	snprintf(l->url, sizeof(l->url), "https://l.example/a");
	l->bytes = 77;
	l->next_try_s = 1700000000;
	r->regex = 2;
	r->lines = 20;
	r->exact = 10;
	r->subtree = 3;
	r->allow = 1;
	r->skipped[LIST_SKIP_empty] = 4;
	r->skipped[LIST_SKIP_cosmetic] = 2;
	r->example[LIST_SKIP_cosmetic][0].line = 7;
	snprintf(r->example[LIST_SKIP_cosmetic][0].text, 80, "example.com##.ad");
	if (max < 2)
		return 1;
	snprintf(l[1].name, sizeof(l[1].name), "old");
	snprintf(l[1].error, sizeof(l[1].error), "managed by file");
	l[1].origin = CONFIG_FROM_STATE;
	l[1].left_out = true;
	return 2;
}

int control_stats(struct control *c, struct control_stats *s)
{
	s->kern.count[MR_STAT_packets] = 1100;
	s->kern.count[MR_STAT_blocked] = 300;
	s->kern.count[MR_STAT_cached] = 600;
	s->kern.count[MR_STAT_pass_miss] = 100;
	s->kern.count[MR_STAT_pass_other] = 100;
	s->latency.count[MR_SOURCE_BLOCKED][8] = 100;
	s->latency.sum_ns[MR_SOURCE_BLOCKED] = 30000;
	s->cache.entries = 5;
	return fake.error;
}

int control_upstreams(struct control *c, struct control_upstreams *u)
{
	u->strategy = CONFIG_PARALLEL_BEST;
	u->in_flight = 3;
	u->in_flight_max = 8192;
	u->server_in_flight_max = 4096;
	u->count = 2;
	u->at[0] = (struct control_upstream){
		.server = "192.0.2.1:53", .used_for = "servers corp.example", .uses = 2, .state = CONTROL_UPSTREAM_FAILED,
		.changed = true, .since_s = 7, .latency_us = 12345, .in_flight = 2, .edns = true, .asked = 1500, .answers = 1400,
		.servfail = 1, .refused = 2, .timeouts = 90, .network = 7, .untrusted = 1, .why = "no answer", .why_s = 3,
	};
	addr_parse("192.0.2.1:53", 0, &u->at[0].addr);
	u->at[1] = (struct control_upstream){
		.server = "udp://dns.example", .used_for = "fallback", .uses = 1, .state = CONTROL_UPSTREAM_UNRESOLVED,
	};
	return fake.error;
}

int control_memory(struct control *c, struct control_memory *m)
{
	m->maps = 2;
	m->map[0] = (struct kern_memory){ "mr_filter", 1 << 20 };
	m->map[1] = (struct kern_memory){ "mr_answers", 3 << 20 };
	m->rss_bytes = 5000;
	return fake.error;
}

/* ---- actions ---- */

static void note_name(const uint8_t *name, uint16_t len)
{
	memset(fake.name, 0, sizeof(fake.name));
	memcpy(fake.name, name, len);
	fake.name_len = len;
}

int control_flush(struct control *c, const uint8_t *lower, uint16_t len, bool below, struct control_flushed *f)
{
	fake.flushed_below = below;
	fake.flushed_all = !lower;
	if (lower)
		note_name(lower, len);
	f->kernel = 3;
	f->cache = 5;
	return fake.error;
}

int control_cache(struct control *c, struct control_cache *s)
{
	*s = (struct control_cache){
		.cache = { .entries = 1200, .entries_max = 200000, .bytes = 3 << 20, .bytes_max = 128 << 20, .hits = 900,
			   .misses = 100, .covered = 7, .stale = 6, .evicted = 5, .expired = 4, .refused = 2 },
		.kernel_answers = 11, .kernel_answers_max = 2000, .kernel_stale = 8, .down = true,
	};
	return fake.error;
}

/* A live A record, and a cut that is over. */
int control_cached(struct control *c, const uint8_t *lower, uint16_t len, struct control_cached *ret, unsigned max)
{
	static const uint8_t body[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 0x2c, 0, 4, 192, 0, 2, 7 };
	struct dns_key key = { .name_len = len, .qtype = 1 };
	uint64_t now = clock_coarse_ns();

	note_name(lower, len);
	if (fake.error)
		return fake.error;
	if (!memcmp(lower, "\7unknown", 8))
		return 0;
	memcpy(key.name, lower, len);
	memset(ret, 0, 2 * sizeof(*ret));
	if (dns_answer_from_body(&key, 0, body, sizeof(body), 1, 0, now - 100 * CLOCK_S, &ret[0].answer))
		return -ENOMEM;
	ret[0].live = ret[0].kernel = true;
	key.qtype = 28;
	key.bits = DNS_KEY_DO;
	ret[1].answer = dns_answer_empty(&key, 3, -1, 60, now - 90 * CLOCK_S);
	ret[1].answer->cut = true;
	ret[1].rests = true;
	return 2;
}

int control_ask_reload(struct control *c, struct err_at *reterr)
{
	*reterr = fake.reload_at;
	return fake.reload_error;
}

/* ---- objects ---- */

static const char yaml[] =
	"filter:\n"
	"  rules: [ \"||tracker.example^\" ]\n"
	"  lists:\n"
	"    - { name: ads, file: /lists/ads.txt }\n"
	"  rewrites:\n"
	"    - { name: printer.home.example, answers: [\"192.168.1.5\", \"fd00::5\"] }\n"
	"    - { name: \"*.dev.example\", answers: [dev.example], ttl: 60 }\n"
	"clients:\n"
	"  - { name: tablet, addresses: [\"192.168.1.7\", \"mac:02:00:00:00:00:01\"], tags: [device_tablet] }\n"
	"groups:\n"
	"  - { name: default }\n"
	"  - { name: kids, clients: [\"192.168.1.0/25\", tablet], lists: [ads], rules: [\"||games.example^\"],\n"
	"      block: { mode: nxdomain }, no_types: [AAAA],\n"
	"      schedules: [ { days: [mon, tue], from: \"21:00\", to: \"07:00\", zone: \"Europe/Berlin\", lists: [all] } ] }\n";

/* What the file above says, and a rule made at run time. */
static struct config *make_config(void)
{
	struct config_errors errors = { 0 };
	struct config *c = NULL;

	if (config_load(yaml, strlen(yaml), NULL, &c, &errors) ||
	    config_overlay(c, "rule", "||run.example^", "{\"rule\":\"||run.example^\"}", &errors) ||
	    config_overlay(c, CONFIG_GROUP_RULE, "kids ||kid.example^", "{\"group\":\"kids\",\"rule\":\"||kid.example^\"}", &errors) ||
	    config_check_whole(c, &errors)) {
		fprintf(stderr, "%u: %s\n", errors.at[0].line, errors.at[0].why);
		abort();
	}
	return c;
}

int control_look(struct control *c, void (*look)(const struct config *config, void *arg), void *arg)
{
	struct config *config;

	if (fake.error)
		return fake.error;
	config = make_config();
	look(config, arg);
	config_free(config);
	return 0;
}

static int because(struct err_at *at)
{
	if (!fake.error)
		return 0;
	err_where(at, NULL, 0, "lists");
	return err_why(at, fake.error, "because");
}

static int check(const char *kind, const char *name, const char *json)
{
	struct config_errors errors = { 0 };
	struct config *config = make_config();
	int err = config_overlay(config, kind, name, json, &errors);

	snprintf(fake.check_why, sizeof(fake.check_why), "%s: %s: %s", json, errors.at[0].key, errors.at[0].why);
	config_free(config);
	return err;
}

int control_object_put(struct control *c, const char *kind, const char *name, const char *json, bool replace,
		       struct err_at *at)
{
	snprintf(fake.kind, sizeof(fake.kind), "%s", kind);
	snprintf(fake.asked, sizeof(fake.asked), "%s %s %s %s", replace ? "put" : "make", kind, name, json);
	return fake.check ? check(kind, name, json) : because(at);
}

int control_object_delete(struct control *c, const char *kind, const char *name, struct err_at *at)
{
	snprintf(fake.asked, sizeof(fake.asked), "delete %s %s ", kind, name);
	return because(at);
}

int control_refresh(struct control *c, const char *name, struct err_at *at)
{
	snprintf(fake.asked, sizeof(fake.asked), "refresh %s", name ? name : "(all)");
	return because(at);
}

const char *const control_scope_names[CONTROL_SCOPES] = { "all", "group", "client" };

int control_pause(struct control *c, enum control_scope scope, const char *name, uint32_t seconds, struct err_at *at)
{
	snprintf(fake.asked, sizeof(fake.asked), "pause %s %s %u", control_scope_names[scope], name, seconds);
	return because(at);
}

int control_resume(struct control *c, enum control_scope scope, const char *name, struct err_at *at)
{
	snprintf(fake.asked, sizeof(fake.asked), "resume %s %s", control_scope_names[scope], name);
	return because(at);
}

int control_pauses(struct control *c, struct control_pause *ret, unsigned max)
{
	ret[0] = (struct control_pause){ CONTROL_SCOPE_GROUP, "kids", 90 };
	ret[1] = (struct control_pause){ CONTROL_SCOPE_ALL, "", 0 };
	return fake.error ? fake.error : 2;
}

/* A response to @q: its question, then A records with these last octets. */
static uint16_t make_reply(uint8_t *p, const struct kern_why_query *q, uint8_t rcode, uint32_t ttl, const char *octets)
{
	const uint8_t head[] = { 0, ttl & 1, 0x81, 0x80 | rcode, 0, 1, 0, (uint8_t)strlen(octets), 0, 0, 0, 0 };
	const uint8_t tail[] = { (uint8_t)(q->qtype >> 8), (uint8_t)q->qtype, 0, 1 };
	uint8_t *at = p;

	at = mempcpy(at, head, sizeof(head));
	at = mempcpy(at, q->name, q->name_len);
	at = mempcpy(at, tail, sizeof(tail));
	for (; *octets; octets++) {
		const uint8_t rr[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, (uint8_t)(ttl >> 8), (uint8_t)ttl, 0, 4, 192, 0, 2,
				       (uint8_t)*octets };

		at = mempcpy(at, rr, sizeof(rr));
	}
	return (uint16_t)(at - p);
}

int control_find_client(struct control *c, const char *text, struct control_client *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (fake.error)
		return fake.error;
	addr_parse("192.168.1.7", 0, &ret->addr);
	ret->has_mac = !strncmp(text, "mac:", 4);
	memcpy(ret->mac, "\2\0\0\0\0\1", 6);
	return ret->has_mac || !strcmp(text, "tablet") ? 0 : -ENOENT;
}

/* The first label chooses what the two say. */
int control_why(struct control *c, const struct kern_why_query *q, struct control_why *w)
{
	char text[DNS_NAME_TEXT_MAX];
	const char *name = dns_name_text(q->name, text, sizeof(text));

	note_name(q->name, q->name_len);
	fake.why = *q;
	w->kern.why.stat = MR_STAT_cached;
	w->kern.why.source = MR_SOURCE_CACHED;
	w->kern.answered = true;
	w->kern.ns = 312;
	w->source = QUERY_BY_CACHE;
	snprintf(w->group, sizeof(w->group), "default");
	snprintf(w->kern_group, sizeof(w->kern_group), "default");
	w->kern.reply_len = make_reply(w->kern.reply, q, 0, 10, "12");
	w->reply_len = make_reply(w->reply, q, 0, 299, "21");
	if (!strncmp(name, "rcode.", 6))
		w->reply_len = make_reply(w->reply, q, 3, 299, "21");
	if (!strncmp(name, "record.", 7))
		w->reply_len = make_reply(w->reply, q, 0, 299, "13");
	if (!strncmp(name, "broken.", 7))
		w->reply_len -= 3;
	if (!strncmp(name, "off.", 4)) {
		w->kern_error = -EOPNOTSUPP;
		snprintf(w->kern_reason, sizeof(w->kern_reason), "the fast path is off");
	}
	if (!strncmp(name, "late.", 5))
		w->daemon_error = -ETIMEDOUT;
	if (!strncmp(name, "link.", 5)) {
		w->kern.why.stat = MR_STAT_blocked;
		w->kern.why.source = MR_SOURCE_BLOCKED;
		w->kern.why.verdict = MR_BLOCK;
		w->kern.why.chain_set = 9;
		w->kern.why.entry = 9 << 2;
		w->verdict.step = JUDGE_link;
		w->verdict.link_len = 8;
		memcpy(w->verdict.link, "\2to\3out", 8);
		snprintf(w->list, sizeof(w->list), "starter");
	}
	w->kern.why.paused = !strncmp(name, "paused.", 7);
	if (w->kern.why.paused)
		snprintf(w->closed, sizeof(w->closed), "starter, group:kids");
	w->paused = w->kern.why.paused;
	if (!strncmp(name, "blocked.", 8)) {
		w->kern.why.stat = MR_STAT_blocked;
		w->kern.why.source = MR_SOURCE_BLOCKED;
		w->kern.why.verdict = w->verdict.kind = MR_BLOCK;
		w->kern.why.entry = w->verdict.entry = 0x1234;
		snprintf(w->list, sizeof(w->list), "starter");
		snprintf(w->daemon_list, sizeof(w->daemon_list), "other");
		w->verdict.step = JUDGE_name;
		w->verdict.line = 12;
		snprintf(w->verdict.rule, sizeof(w->verdict.rule), "||blocked.test^");
	}
	return fake.error;
}

void control_refuse_calls(struct control *c)
{
	atomic_store(&fake.refusing, true);
}

/* ---- tail ---- */

struct control_tail {
	unsigned sent;
};

int control_tail_open(struct control *c, struct control_tail **ret)
{
	if (fake.error)
		return fake.error;
	if (atomic_fetch_add(&fake.tails, 1) >= 8) {
		atomic_fetch_sub(&fake.tails, 1);
		return -EBUSY;
	}
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void control_tail_close(struct control_tail *t)
{
	atomic_fetch_sub(&fake.tails, 1);
	atomic_fetch_add(&fake.tails_closed, 1);
	free(t);
}

int control_tail_read(struct control_tail *t, unsigned timeout_ms, struct control_event *e, uint64_t *ret_lost)
{
	*ret_lost = t->sent ? 0 : fake.lost;
	if (t->sent == fake.events) {
		if (fake.end)
			return -ESHUTDOWN;
		usleep(20000);
		return 0;
	}
	memset(e, 0, sizeof(*e));
	e->time_us = 1700000000123456 + t->sent;
	addr_parse("192.0.2.77:4242", 0, &e->client);
	e->name_len = 9;
	memcpy(e->name, "\3ads\3com", 9);
	e->qtype = 28;
	e->rcode = 3;
	e->size = 99;
	e->kernel = !(t->sent & 1);
	snprintf(e->source, sizeof(e->source), "filter");
	snprintf(e->verdict, sizeof(e->verdict), "block");
	snprintf(e->list, sizeof(e->list), "starter");
	t->sent++;
	return 1;
}

/* ---- the API in front ---- */

static char folder[] = "/tmp/millrace-api-XXXXXX";
static char path[64];

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

const char *fake_path(void)
{
	if (!*path) {
		assert_non_null(mkdtemp(folder));
		snprintf(path, sizeof(path), "%s/api.sock", folder);
		atexit(remove_folder);
	}
	return path;
}

struct api *fake_start(void)
{
	struct err_at at = { .why = "" };
	struct api *a = NULL;

	if (api_start(some_control, fake_path(), (uid_t)-1, (gid_t)-1, &a, &at))
		fail_msg("%s: %s", at.file, at.why);
	return a;
}

struct answer {
	char *text;
	size_t size;
};

static int on_body(void *arg, unsigned status, const char *p, size_t size)
{
	struct answer *a = arg;

	a->text = realloc(a->text, a->size + size + 1);
	memcpy(a->text + a->size, p, size);
	a->size += size;
	a->text[a->size] = 0;
	return 0;
}

unsigned ask(const char *method, const char *where, json_t **ret)
{
	return ask_with(method, where, NULL, ret);
}

unsigned ask_with(const char *method, const char *where, const char *body, json_t **ret)
{
	struct err_at err = { .why = "" };
	struct answer a = { 0 };
	char url[2048];
	struct http_request q = { .method = method, .url = url, .socket = fake_path(), .timeout_ms = 10000,
				  .body_max = 1 << 20, .body = on_body, .arg = &a, .content = body,
				  .content_size = body ? strlen(body) : 0 };
	unsigned status = 0;

	snprintf(url, sizeof(url), "http://localhost%s", where);
	if (http_ask(&q, &status, &err))
		fail_msg("%s %s: %s", method, where, err.why);
	if (ret)
		*ret = a.text ? json_loads(a.text, 0, NULL) : NULL;
	free(a.text);
	return status;
}

const char *at(const json_t *o, const char *where, char *buf, size_t size)
{
	char copy[256], *word, *rest = copy, *dump;

	snprintf(copy, sizeof(copy), "%s", where);
	while ((word = strsep(&rest, ".")) && o)
		o = json_is_array(o) ? json_array_get(o, (size_t)atoi(word)) : json_object_get(o, word);
	if (json_is_string(o)) {
		snprintf(buf, size, "%s", json_string_value(o));
		return buf;
	}
	dump = o ? json_dumps(o, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	snprintf(buf, size, "%s", dump ? dump : "(none)");
	free(dump);
	return buf;
}
