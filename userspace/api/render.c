/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render.c - status, memory, lists and events as JSON.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "api/render.h"
#include "dns/name.h"
#include "dns/text.h"
#include "policy/list.h"

/* Length of the UTF-8 sequence at @p of at most @left octets; 0 when it is none (RFC 3629 section 4). */
static size_t utf8_len(const unsigned char *p, size_t left)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
	size_t i;

	if (!n || n > left)
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, above U+10FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

json_t *render_text(const char *s, size_t size)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t len = strnlen(s, size), at = 0, out = 0, n;
	char buf[1600];

	while (at < len && out + 4 < sizeof(buf)) {
		n = utf8_len(p + at, len - at);
		if (n) {
			memcpy(buf + out, p + at, n);
			at += n;
			out += n;
		} else {
			memcpy(buf + out, "\xef\xbf\xbd", 3);
			at++;
			out += 3;
		}
	}
	return json_stringn(buf, out);
}

#define TEXT(array) render_text(array, sizeof(array))

json_t *render_u64(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *address(const struct addr *a)
{
	char buf[ADDR_TEXT_MAX];

	return json_string(addr_text(a, buf, sizeof(buf)));
}

static json_t *addresses(const struct addr *a, unsigned count)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < count; i++)
		json_array_append_new(all, address(&a[i]));
	return all;
}

static json_t *interfaces(const struct kern_status *k)
{
	const struct kern_iface_status *f;
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < k->interfaces && i < MR_IFACES_MAX; i++) {
		f = &k->iface[i];
		json_array_append_new(all, json_pack("{s:o, s:o, s:b, s:s, s:o, s:i, s:i}", "name", TEXT(f->name), "driver",
						     TEXT(f->driver), "up", f->up, "mode", kern_mode_text(f->mode), "reason",
						     TEXT(f->reason), "program_id", (int)f->prog_id, "link_id",
						     (int)f->link_id));
	}
	return all;
}

static json_t *fastpath(const struct kern_status *k)
{
	json_t *notes = json_array();
	char layout[20];
	unsigned i;

	for (i = 0; i < k->note_count && i < sizeof(k->notes) / sizeof(k->notes[0]); i++)
		json_array_append_new(notes, TEXT(k->notes[i]));
	snprintf(layout, sizeof(layout), "%016llx", (unsigned long long)k->layout);
	return json_pack("{s:b, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:{s:o, s:o}, s:{s:o, s:o}, s:o}", "on", k->on, "reason",
			 TEXT(k->reason), "interfaces", interfaces(k), "pins", TEXT(k->pins), "layout", layout, "taken_over",
			 k->taken_over, "verified_instructions", render_u64(k->verified_insns), "filter_generation",
			 render_u64(k->filter_generation), "services", render_u64(k->services), "answers", "in_use",
			 render_u64(k->answers_in_use), "max", render_u64(k->answers_max), "units", "in_use",
			 render_u64(k->units_in_use), "max", render_u64(k->units_max), "notes", notes);
}

#define BOUND(n, array) ((n) < sizeof(array) / sizeof((array)[0]) ? (n) : sizeof(array) / sizeof((array)[0]))

static json_t *objects(const struct control_status *s)
{
	return json_pack("{s:i, s:i, s:o, s:o, s:i}", "in_force", (int)s->objects, "left_out", (int)s->objects_left_out, "why",
			 TEXT(s->objects_why), "trouble", TEXT(s->objects_trouble), "pauses", (int)s->pauses);
}

static json_t *servers(const struct control_status *s)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < BOUND(s->servers, s->server); i++)
		json_array_append_new(all, TEXT(s->server[i]));
	return all;
}

static json_t *left_out(const struct control_status *s)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < s->left_out_shown; i++)
		json_array_append_new(all, json_pack("{s:o, s:o, s:s, s:o}", "kind", TEXT(s->left_out[i].kind), "name",
						     TEXT(s->left_out[i].name), "origin",
						     s->left_out[i].origin == CONFIG_FROM_FILE ? "file" : "state", "why",
						     TEXT(s->left_out[i].why)));
	return all;
}

static json_t *waiting(const struct control_status *s)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < BOUND(s->waiting, s->wait); i++)
		json_array_append_new(all, json_string(s->wait[i]));
	return all;
}

static json_t *filter(const struct control_status *s)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "entries", render_u64(s->filter_entries), "asked",
			 render_u64(s->filter_asked), "untold", render_u64(s->filter_untold), "lists",
			 render_u64(s->lists), "special", render_u64(s->filter_special), "bad_rules",
			 (int)s->rules_left_out);
}

/* Null when answers are kept in memory alone. */
static json_t *durable(const struct control_durable *d)
{
	if (!d->configured)
		return json_null();
	return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "open", d->open, "loading", d->loading, "loaded",
			 render_u64(d->loaded), "load_ms", render_u64(d->load_ms), "bytes", render_u64(d->bytes), "bytes_max",
			 render_u64(d->bytes_max), "why", TEXT(d->why), "note", TEXT(d->note));
}

json_t *render_status(const struct control_status *s)
{
	return json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}}", "version",
			 TEXT(s->version), "pid", s->pid, "uptime_s", render_u64(s->uptime_s), "config", TEXT(s->config),
			 "user", TEXT(s->user), "workers", render_u64(s->workers), "listen",
			 addresses(s->listen, BOUND(s->listens, s->listen)), "upstreams",
			 servers(s), "fastpath", fastpath(&s->kern), "filter",
			 filter(s), "objects", objects(s), "left_out", left_out(s), "durable", durable(&s->durable), "reloads", "done",
			 render_u64(s->reloads), "failed",
			 render_u64(s->reloads_failed), "last_error", TEXT(s->reload_error), "waiting", waiting(s));
}

json_t *render_memory(const struct control_memory *m)
{
	json_t *maps = json_array();
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < BOUND(m->maps, m->map); i++) {
		json_array_append_new(maps, json_pack("{s:o, s:o}", "name", TEXT(m->map[i].name), "bytes",
						      render_u64(m->map[i].bytes)));
		sum += m->map[i].bytes;
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o}}", "maps", maps, "maps_bytes", render_u64(sum), "cache_bytes",
			 render_u64(m->cache_bytes), "filter_mapped_bytes", render_u64(m->filter_mapped_bytes), "process",
			 "rss_bytes", render_u64(m->rss_bytes), "pss_bytes", render_u64(m->pss_bytes));
}

static json_t *skip_row(const struct list_report *r, unsigned skip)
{
	json_t *examples = json_array();
	unsigned i;

	for (i = 0; i < LIST_EXAMPLES && r->example[skip][i].line; i++)
		json_array_append_new(examples, json_pack("{s:o, s:o}", "line", render_u64(r->example[skip][i].line), "text",
							  TEXT(r->example[skip][i].text)));
	return json_pack("{s:o, s:s, s:o}", "lines", render_u64(r->skipped[skip]), "why", list_skip_texts[skip], "examples",
			 examples);
}

static json_t *when(int64_t s)
{
	return s ? json_integer(s) : json_null();
}

/* Of a list from a URL; null for a file. */
static json_t *fetch(const struct control_list *l)
{
	if (!*l->url)
		return json_null();
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "url", TEXT(l->url), "now", l->fetching, "bytes",
			 render_u64(l->bytes), "last_try", when(l->last_try_s), "last_good", when(l->last_good_s), "next_try",
			 when(l->next_try_s));
}

json_t *render_list(const struct control_list *l)
{
	const struct list_report *r = &l->report;
	json_t *reasons = json_object();
	struct addr sink = { .port = 0 };
	uint64_t skipped = 0;
	unsigned i;

	memcpy(sink.ip, r->sink, sizeof(sink.ip));
	for (i = 0; i < LIST_SKIP_COUNT; i++) {
		if (!r->skipped[i])
			continue;
		/* Empty lines and comments were never meant to be names. */
		if (i != LIST_SKIP_empty)
			skipped += r->skipped[i];
		json_object_set_new(reasons, list_skip_names[i], skip_row(r, i));
	}
	return json_pack("{s:o, s:s, s:b, s:o, s:o, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "name", TEXT(l->name), "origin", l->origin == CONFIG_FROM_FILE ? "file" : "state", "left_out",
			 l->left_out, "file", TEXT(l->file), "fetch", fetch(l), "format", list_format_names[l->format], "action",
			 l->action == CONFIG_LIST_ALLOW ? "allow" : "block", "loaded", l->loaded, "error", TEXT(l->error),
			 "lines", render_u64(r->lines), "names", render_u64(r->exact + r->subtree), "exact",
			 render_u64(r->exact), "subtree", render_u64(r->subtree), "allow", render_u64(r->allow), "regex",
			 render_u64(r->regex), "rewrite", render_u64(r->rewrite), "address", render_u64(r->address), "route",
			 render_u64(r->route), "duplicates", render_u64(r->duplicates), "sink",
			 r->sunk ? address(&sink) : json_null(), "sunk",
			 render_u64(r->sunk), "skipped", render_u64(skipped),
			 "reasons", reasons);
}

json_t *render_lists(const struct control_list *l, unsigned count)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < count; i++)
		json_array_append_new(all, render_list(&l[i]));
	return json_pack("{s:o}", "lists", all);
}

json_t *render_event(const struct control_event *e)
{
	char name[DNS_NAME_TEXT_MAX], type[32], rcode[32], when[64], client[ADDR_TEXT_MAX];
	time_t s = (time_t)(e->time_us / 1000000);
	struct addr ip = e->client;
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(when + n, sizeof(when) - n, ".%06uZ", (unsigned)(e->time_us % 1000000));
	ip.port = 0;
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:o, s:o, s:i, s:o}", "time", when, "client",
			 addr_text(&ip, client, sizeof(client)), "port", e->client.port, "protocol", e->tcp ? "tcp" : "udp",
			 "name", dns_name_text(e->name, name, sizeof(name)), "type",
			 dns_type_text(e->qtype, type, sizeof(type)), "rcode", dns_rcode_text(e->rcode, rcode, sizeof(rcode)),
			 "by", e->kernel ? "kernel" : "daemon", "source", TEXT(e->source), "stale", e->stale, "verdict", TEXT(e->verdict),
			 "list", TEXT(e->list), "bytes", (int)e->size, "latency_us", render_u64(e->latency_us));
}
