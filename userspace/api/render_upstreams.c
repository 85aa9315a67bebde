/* SPDX-License-Identifier: BSD-2-Clause */
/* render_upstreams.c - upstream servers as JSON. */
#include <string.h>
#include "api/render.h"

#define TEXT(array) render_text(array, sizeof(array))

static const char *const strategies[] = {
	[CONFIG_PARALLEL_BEST] = "parallel_best", [CONFIG_ORDERED] = "ordered", [CONFIG_ROUND_ROBIN] = "round_robin",
	[CONFIG_RANDOM] = "random", [CONFIG_LATENCY] = "latency",
};

static const char *const states[] = {
	[CONTROL_UPSTREAM_WELL] = "well", [CONTROL_UPSTREAM_FAILED] = "failed", [CONTROL_UPSTREAM_UNRESOLVED] = "unresolved",
};

/* Words with a blank between; zones have none. */
static json_t *words(const char *text)
{
	json_t *all = json_array();
	size_t n;

	for (; *text; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		json_array_append_new(all, json_stringn(text, n));
	}
	return all;
}

static json_t *errors(const struct control_upstream *u)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "servfail", render_u64(u->servfail), "refused", render_u64(u->refused),
			 "timeout", render_u64(u->timeouts), "network", render_u64(u->network), "untrusted",
			 render_u64(u->untrusted));
}

static json_t *last_error(const struct control_upstream *u)
{
	if (!*u->why)
		return json_null();
	return json_pack("{s:o, s:o}", "why", TEXT(u->why), "ago_s", render_u64(u->why_s));
}

static json_t *server(const struct control_upstream *u)
{
	char addr[ADDR_TEXT_MAX] = "";

	if (u->state != CONTROL_UPSTREAM_UNRESOLVED)
		addr_text(&u->addr, addr, sizeof(addr));
	return json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "server", TEXT(u->server),
			 "address", *addr ? TEXT(addr) : json_null(), "used_for", words(u->used_for), "uses",
			 render_u64(u->uses), "state", states[u->state], "since_s",
			 u->changed ? render_u64(u->since_s) : json_null(), "latency_us",
			 u->latency_us ? render_u64(u->latency_us) : json_null(), "in_flight", render_u64(u->in_flight), "edns",
			 u->edns, "asked", render_u64(u->asked), "answers", render_u64(u->answers), "errors", errors(u),
			 "last_error", last_error(u));
}

json_t *render_upstreams(const struct control_upstreams *u)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < u->count && i < CONFIG_SERVERS_ALL; i++)
		json_array_append_new(all, server(&u->at[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "strategy", strategies[u->strategy], "in_flight", render_u64(u->in_flight),
			 "in_flight_max", render_u64(u->in_flight_max), "server_in_flight_max",
			 render_u64(u->server_in_flight_max), "upstreams", all);
}
