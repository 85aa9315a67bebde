/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elements.h - what the readers of lists share.
 *
 * Errors name the element: "filter.lists[2].file".  An element that is wrong
 * stays in its list, half read: the load fails at its end, and what is freed is
 * what is there.
 */
#ifndef CONFIG_ELEMENTS_H
#define CONFIG_ELEMENTS_H

#include "config/reader.h"

#define ELEMENT_KEY_MAX 96

/* As all lists of config.h begin: an array of the heap and how many there are. */
struct element_array {
	void *at;
	unsigned count;
};

/* Reads one element into cleared memory; 0, -EINVAL with an error noted, or -ENOMEM in r->err too. */
typedef int element_reader(struct reader *r, const yaml_node_t *node, const char *key, unsigned number, void *to);

/* "key[i]" and "key.field"; return @buf, which has ELEMENT_KEY_MAX bytes. */
const char *element_key(char *buf, const char *key, unsigned i);
const char *element_field(char *buf, const char *key, const char *field);

/* The number of elements of a list, or -EINVAL with an error noted when it is none or not within o->min and o->max. */
int element_count(struct reader *r, const yaml_node_t *node, const struct config_option *o);
const yaml_node_t *element_at(struct reader *r, const yaml_node_t *node, unsigned i);

/* A node's line in the file; 0 when the text is another one. */
unsigned element_line(const struct reader *r, const yaml_node_t *node);

/**
 * Read a list of @o->min to @o->max elements, each of @size bytes.
 *
 * @o   path, expected, min and max of an option, or of a field that is like one
 * @to  a struct element_array by layout
 */
int element_array(struct reader *r, const yaml_node_t *node, const struct config_option *o, size_t size,
		  element_reader *read, void *to);

/**
 * A name that can stand on a command line, as a file and in a metric's label.
 *
 * @node  NULL: not given, which is an error but for objects made at run time
 * @map   of which it is a field
 * @what  "list"
 * @ret   room for CONFIG_NAME_MAX
 */
int element_name(struct reader *r, const yaml_node_t *node, const yaml_node_t *map, const char *key, const char *what,
		 char *ret);

/* At least @min names of lists. */
int element_refs(struct reader *r, const yaml_node_t *node, const char *key, unsigned min, struct config_refs *to);

/* ---- texts.c ---- */

/* "http://" or "https://" with a host; NULL when it is good, else what is wrong with it. */
const char *text_url_wrong(const char *text);

/**
 * A name of the DNS: labels of letters, digits, '-' and '_'.
 *
 * @ret  lower case, without its final dot; room for CONFIG_DNS_NAME_MAX
 *
 * Returns NULL, or what is wrong with it.
 */
const char *text_dns_name_wrong(const char *text, char *ret);

/**
 * An address, a prefix or "mac:02:00:00:00:00:01".
 *
 * Returns 0; -EINVAL when it is none of these; -ERANGE when bits behind a
 * prefix' length are set; -EDOM for a hardware address that no client has.
 */
int text_client_addr(const char *text, struct config_client_addr *ret);

/* A type of records, "AAAA" or "TYPE65"; -EINVAL for none, -EDOM for one that has no records (ANY, OPT ...). */
int text_dns_type(const char *text, uint16_t *ret);

/* ---- one object, by kind ---- */

element_reader element_list;
element_reader element_rule;
element_reader element_rewrite;
element_reader element_client;
element_reader element_group;
element_reader element_schedule;
element_reader element_client_addr;
element_reader element_server;

/* What an object owns; its memory was cleared when it was begun. */
void list_done(struct config_list *l);
void rule_done(struct config_rule *u);
void client_done(struct config_client *c);
void group_done(struct config_group *g);
void schedule_done(struct config_schedule *s);
void rules_done(struct config_rules *u);
void routes_done(struct config_routes *r);

bool client_addr_same(const struct config_client_addr *a, const struct config_client_addr *b);
bool rules_same(const struct config_rules *a, const struct config_rules *b);

#endif
