/* SPDX-License-Identifier: BSD-2-Clause */
/* elements_servers.c - readers of upstream servers, routes to them, and zones by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "config/elements.h"

#define PIN_TEXT 44			/* 32 octets in base64 */

enum { ADDRESS, TRUST_AD, DNSSEC_OK, PIN, SERVER_NAME, FIELDS };
static const struct reader_field fields[FIELDS] = {
	[ADDRESS] = { "address", false }, [TRUST_AD] = { "trust_ad", false }, [DNSSEC_OK] = { "dnssec_ok", false },
	[PIN] = { "pin", false },	  [SERVER_NAME] = { "name", false },
};

/* ---- pins ---- */

static int base64(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* 43 digits and "=": 256 bits, and two that are zero. */
static bool read_digest(const char *text, uint8_t ret[32])
{
	uint32_t bits = 0;
	unsigned i, n = 0, out = 0;
	int v;

	if (strlen(text) != PIN_TEXT || text[PIN_TEXT - 1] != '=')
		return false;
	for (i = 0; i < PIN_TEXT - 1; i++) {
		v = base64(text[i]);
		if (v < 0)
			return false;
		bits = bits << 6 | (uint32_t)v;
		n += 6;
		if (n >= 8) {
			n -= 8;
			ret[out++] = (uint8_t)(bits >> n);
		}
	}
	return !(bits & ((1U << n) - 1));
}

static int read_pin(struct reader *r, const yaml_node_t *node, const char *key, struct config_server *s)
{
	static const char expected[] = "the SHA-256 of a public key in base64, 44 letters";
	const char *text = reader_text(r, node, key, expected);
	char quoted[64];

	if (!text)
		return -EINVAL;
	if (!read_digest(text, s->pin[s->pins]))
		return reader_error(r, node, key, "expected %s, not %s", expected, reader_quote(text, quoted, sizeof(quoted)));
	s->pins++;
	return 0;
}

/* One, or a list of them. */
static int read_pins(struct reader *r, const yaml_node_t *node, const char *key, struct config_server *s)
{
	const struct config_option o = { .path = key, .expected = "pins", .min = 1, .max = CONFIG_PINS_MAX };
	char path[ELEMENT_KEY_MAX];
	int n, i, err = 0;

	if (node->type == YAML_SCALAR_NODE)
		return read_pin(r, node, key, s);
	n = element_count(r, node, &o);
	for (i = 0; i < n; i++)
		if (read_pin(r, element_at(r, node, (unsigned)i), element_key(path, key, (unsigned)i), s))
			err = -EINVAL;
	return n < 0 ? n : err;
}

/* ---- servers ---- */

static int read_address(struct reader *r, const yaml_node_t *node, const char *key, struct config_server *s)
{
	const char *text = reader_text(r, node, key, "the address of a server");
	struct err_at at = { 0 };

	if (!text)
		return -EINVAL;
	if (endpoint_parse(text, &s->at, &at))
		return reader_error(r, node, key, "%s", at.why);
	return 0;
}

static int read_flag(struct reader *r, const yaml_node_t *node, const char *key, bool *ret)
{
	const struct config_row row = { .o = { .path = key, .expected = "true or false" } };

	return config_read_bool(r, node, &row, ret);
}

static int read_name(struct reader *r, const yaml_node_t *node, const char *key, struct config_server *s)
{
	static const char expected[] = "a name of the DNS or an address";
	const char *text = reader_text(r, node, key, expected);
	char quoted[64];

	if (!text)
		return -EINVAL;
	if (endpoint_set_name(&s->at, text))
		return reader_error(r, node, key, "expected %s, not %s", expected, reader_quote(text, quoted, sizeof(quoted)));
	return 0;
}

static bool has_certificate(const struct config_server *s)
{
	return s->at.scheme == ENDPOINT_TLS || s->at.scheme == ENDPOINT_HTTPS;
}

/* { address:, ... } */
static int read_map(struct reader *r, const yaml_node_t *node, const char *key, struct config_server *s)
{
	const yaml_node_t *f[FIELDS];
	char path[ELEMENT_KEY_MAX];
	int bad = reader_fields(r, node, key, fields, FIELDS, f), err = 0;
	bool dnssec_ok = true;

	element_field(path, key, "address");
	if (f[ADDRESS])
		err = read_address(r, f[ADDRESS], path, s);
	else if (!bad)
		err = reader_error(r, node, path, "missing; expected the address of a server");
	if (f[TRUST_AD] && read_flag(r, f[TRUST_AD], element_field(path, key, "trust_ad"), &s->trust_ad))
		err = -EINVAL;
	if (f[DNSSEC_OK] && read_flag(r, f[DNSSEC_OK], element_field(path, key, "dnssec_ok"), &dnssec_ok))
		err = -EINVAL;
	s->no_do = !dnssec_ok;
	if (f[PIN] && read_pins(r, f[PIN], element_field(path, key, "pin"), s))
		err = -EINVAL;
	if (f[SERVER_NAME] && read_name(r, f[SERVER_NAME], element_field(path, key, "name"), s))
		err = -EINVAL;
	if (!err && !bad && (f[PIN] || f[SERVER_NAME]) && !has_certificate(s))
		err = reader_error(r, f[PIN] ? f[PIN] : f[SERVER_NAME], element_field(path, key, f[PIN] ? "pin" : "name"),
				   "only with tls:// or https://: others show no certificate");
	return bad ? bad : err;
}

int element_server(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	return node->type == YAML_MAPPING_NODE ? read_map(r, node, key, to) : read_address(r, node, key, to);
}

/* None twice; the load has failed when one of them could not be read, and then it has no address to compare. */
static int read_servers(struct reader *r, const yaml_node_t *node, const struct config_option *o, struct config_servers *to)
{
	int err = element_array(r, node, o, sizeof(*to->at), element_server, to);
	char key[ELEMENT_KEY_MAX];
	unsigned i, j;

	for (i = 0; !err && i < to->count; i++)
		for (j = 0; j < i; j++)
			if (endpoint_same(&to->at[i].at, &to->at[j].at)) {
				err = reader_error(r, element_at(r, node, i), element_key(key, o->path, i),
						   "this server is there already");
				break;
			}
	return err;
}

int config_read_servers(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return read_servers(r, node, &row->o, to);
}

bool config_server_same(const struct config_server *a, const struct config_server *b)
{
	return endpoint_same(&a->at, &b->at) && a->trust_ad == b->trust_ad && a->no_do == b->no_do && a->pins == b->pins &&
	       !memcmp(a->pin, b->pin, a->pins * sizeof(a->pin[0]));
}

bool config_same_servers(const void *a, const void *b, size_t size)
{
	const struct config_servers *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (!config_server_same(&x->at[i], &y->at[i]))
			return false;
	return true;
}

/* ---- routes ---- */

enum { ZONE, SERVERS, ROUTE_FIELDS };
static const struct reader_field route_fields[ROUTE_FIELDS] = {
	[ZONE] = { "zone", false }, [SERVERS] = { "servers", false },
};

static int read_zone(struct reader *r, const yaml_node_t *node, const char *key, char *ret)
{
	static const char expected[] = "a name of the DNS";
	const char *text = reader_text(r, node, key, expected), *wrong;
	char quoted[64];

	if (!text)
		return -EINVAL;
	wrong = text_dns_name_wrong(text, ret);
	if (!wrong)
		return 0;
	*ret = '\0';
	return reader_error(r, node, key, "expected %s, not %s: %s", expected, reader_quote(text, quoted, sizeof(quoted)), wrong);
}

static int read_route(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	char zone[ELEMENT_KEY_MAX], servers[ELEMENT_KEY_MAX];
	const struct config_option o = {
		.path = element_field(servers, key, "servers"), .expected = "servers", .min = 1, .max = CONFIG_SERVERS_MAX,
	};
	const yaml_node_t *f[ROUTE_FIELDS];
	struct config_route *route = to;
	int bad = reader_fields(r, node, key, route_fields, ROUTE_FIELDS, f), err = 0;

	route->line = element_line(r, node);
	if (node->type != YAML_MAPPING_NODE)
		return bad;
	element_field(zone, key, "zone");
	if (f[ZONE])
		err = read_zone(r, f[ZONE], zone, route->zone);
	else if (!bad)
		err = reader_error(r, node, zone, "missing; expected the name of a zone");
	if (f[SERVERS])
		err = read_servers(r, f[SERVERS], &o, &route->servers) ? -EINVAL : err;
	else if (!bad)
		err = reader_error(r, node, servers, "missing; expected servers in [ ]");
	return bad ? bad : err;
}

static int by_zone(const void *a, const void *b)
{
	const struct config_route *const *x = a, *const *y = b;
	int d = strcmp((*x)->zone, (*y)->zone);

	return d ? d : (*x > *y) - (*x < *y);
}

/* Each zone has one route. */
static int check_zones(struct reader *r, const yaml_node_t *node, const char *path, const struct config_routes *to)
{
	const struct config_route **sorted = calloc(to->count + 1, sizeof(*sorted));
	char key[ELEMENT_KEY_MAX];
	unsigned i;
	int err = 0;

	if (!sorted) {
		r->err = -ENOMEM;
		return -ENOMEM;
	}
	for (i = 0; i < to->count; i++)
		sorted[i] = &to->at[i];
	qsort(sorted, to->count, sizeof(*sorted), by_zone);
	for (i = 1; i < to->count; i++)
		if (!strcmp(sorted[i]->zone, sorted[i - 1]->zone))
			err = reader_error(r, element_at(r, node, (unsigned)(sorted[i] - to->at)),
					   element_key(key, path, (unsigned)(sorted[i] - to->at)),
					   "the zone is that of element %u", (unsigned)(sorted[i - 1] - to->at));
	free(sorted);
	return err;
}

int config_read_routes(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	int err = element_array(r, node, &row->o, sizeof(struct config_route), read_route, to);

	return err ? err : check_zones(r, node, row->o.path, to);
}

bool config_same_routes(const void *a, const void *b, size_t size)
{
	const struct config_routes *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (strcmp(x->at[i].zone, y->at[i].zone) ||
		    !config_same_servers(&x->at[i].servers, &y->at[i].servers, sizeof(x->at[i].servers)))
			return false;
	return true;
}

void routes_done(struct config_routes *routes)
{
	unsigned i;

	for (i = 0; i < routes->count; i++)
		free(routes->at[i].servers.at);
	free(routes->at);
}

/* ---- zones by name ---- */

static int read_suffix(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to)
{
	return read_zone(r, node, key, ((struct config_suffix *)to)->name);
}

int config_read_suffixes(struct reader *r, const yaml_node_t *node, const struct config_row *row, void *to)
{
	return element_array(r, node, &row->o, sizeof(struct config_suffix), read_suffix, to);
}

bool config_same_suffixes(const void *a, const void *b, size_t size)
{
	const struct config_suffixes *x = a, *y = b;
	unsigned i;

	if (x->count != y->count)
		return false;
	for (i = 0; i < x->count; i++)
		if (strcmp(x->at[i].name, y->at[i].name))
			return false;
	return true;
}
