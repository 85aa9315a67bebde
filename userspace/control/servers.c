/* SPDX-License-Identifier: BSD-2-Clause */
/* servers.c - the upstream servers: those of the machine where the configuration names none; never ourselves. */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "control/internal.h"
#include "net/tls.h"

static bool is_local(const struct addr *a, const struct ifaddrs *all)
{
	const struct ifaddrs *i;
	struct addr own;

	for (i = all; i; i = i->ifa_next) {
		if (!i->ifa_addr || (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		addr_from_sockaddr(i->ifa_addr, &own);
		if (addr_same_ip(a, &own))
			return true;
	}
	return false;
}

/* Would a query to that server come back to us? */
static bool is_ourselves(const struct addr *a, const struct config *config, const struct ifaddrs *all)
{
	const struct config_addrs *l = &config->server_listen;
	unsigned i;

	for (i = 0; i < l->count; i++) {
		if (l->at[i].port != a->port)
			continue;
		if (addr_same_ip(a, &l->at[i]))
			return true;
		if (addr_is_any(&l->at[i]) && addr_is_v4(&l->at[i]) == addr_is_v4(a) && is_local(a, all))
			return true;
	}
	return false;
}

static int check_set(const struct config *config, const struct config_servers *s, const char *key,
		     const struct ifaddrs *all, struct err_at *reterr)
{
	char text[ADDR_TEXT_MAX], path[80];
	const struct endpoint *e;
	unsigned i;

	for (i = 0; i < s->count; i++) {
		e = &s->at[i].at;
		if (!e->literal || e->scheme > ENDPOINT_TCP || !is_ourselves(&e->addr, config, all))
			continue;
		snprintf(path, sizeof(path), "%s[%u]", key, i);
		err_where(reterr, NULL, 0, path);
		return err_why(reterr, -ELOOP, "%s is ourselves, by server.listen; expected another server",
			       addr_text(&e->addr, text, sizeof(text)));
	}
	return 0;
}

/* A server that is ourselves would answer nothing: each question waits for itself. */
static int check_given(const struct config *config, struct err_at *reterr)
{
	const struct config_routes *r = &config->upstreams_routes;
	struct ifaddrs *all = NULL;
	char key[48];
	unsigned i;
	int err;

	if (getifaddrs(&all))
		all = NULL;
	err = check_set(config, &config->upstreams_servers, "upstreams.servers", all, reterr);
	if (!err)
		err = check_set(config, &config->upstreams_fallback, "upstreams.fallback", all, reterr);
	for (i = 0; i < r->count && !err; i++) {
		snprintf(key, sizeof(key), "upstreams.routes[%u].servers", i);
		err = check_set(config, &r->at[i].servers, key, all, reterr);
	}
	freeifaddrs(all);
	return err;
}

static const struct endpoint *first_name(const struct config_servers *s)
{
	unsigned i;

	for (i = 0; i < s->count; i++)
		if (!s->at[i].at.literal)
			return &s->at[i].at;
	return NULL;
}

/* A server that is given by its name needs another one to say where it is. */
static int check_names(const struct config *config, struct err_at *reterr)
{
	const struct endpoint *e = first_name(&config->upstreams_servers);
	unsigned i, named = 0;

	for (i = 0; i < config->upstreams_servers.count; i++)
		named += !config->upstreams_servers.at[i].at.literal;
	if (config->upstreams_bootstrap.count || named < config->upstreams_servers.count)
		return 0;
	e = e ? e : first_name(&config->upstreams_fallback);
	for (i = 0; i < config->upstreams_routes.count && !e; i++)
		e = first_name(&config->upstreams_routes.at[i].servers);
	if (!e)
		return 0;
	err_where(reterr, NULL, 0, "upstreams.bootstrap");
	return err_why(reterr, -ENOENT, "missing; expected servers that resolve \"%.200s\"", e->host);
}

/* A file of authorities that vouches for nobody would make each connection fail. */
static int check_ca(const struct config *config, struct err_at *reterr)
{
	struct tls_context *tls = NULL;
	int err;

	if (!*config->upstreams_ca)
		return 0;
	err = tls_context_new(config->upstreams_ca, &tls, reterr);
	tls_context_free(tls);
	if (err)
		err_where(reterr, config->upstreams_ca, 0, "upstreams.ca");
	return err;
}

int servers_resolve(struct config *config, const char *resolv_conf, struct err_at *reterr)
{
	struct config_servers *s = &config->upstreams_servers;
	struct ifaddrs *all = NULL;
	unsigned ours = 0;
	char line[512], word[128];
	struct endpoint e;
	FILE *f;
	int err = check_ca(config, reterr);

	if (!err)
		err = check_given(config, reterr);
	if (!err && config->upstreams_servers_given)
		err = check_names(config, reterr);
	if (err || config->upstreams_servers_given)
		return err;
	free(s->at);
	s->count = 0;
	s->at = calloc(CONFIG_SERVERS_MAX, sizeof(*s->at));
	if (!s->at)
		return -ENOMEM;
	f = file_stream(resolv_conf);
	if (f && getifaddrs(&all))
		all = NULL;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " nameserver %127s", word) != 1 || strstr(word, "://") || endpoint_parse(word, &e, NULL))
			continue;
		if (is_ourselves(&e.addr, config, all))
			ours++;
		else if (s->count < CONFIG_SERVERS_MAX)
			s->at[s->count++].at = e;
	}
	if (f)
		fclose(f);
	freeifaddrs(all);
	if (s->count)
		return 0;
	err_where(reterr, NULL, 0, "upstreams.servers");
	return err_why(reterr, -ENOENT,
		       "no upstream servers: the configuration names none and %s has none%s; "
		       "name some, or say \"servers: []\" for no forwarding",
		       resolv_conf, ours ? " but ourselves" : "");
}
