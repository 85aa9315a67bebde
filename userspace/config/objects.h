/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.h - what a configuration has many of: lists, rules, rewrites, clients and groups.
 *
 * Read from the file by config_load(), or one by one from what was made at run
 * time by config_overlay().  What refers to others by name is also resolved to
 * their numbers, by config_check_whole(); until then uses, tz and the block of
 * a group mean nothing.
 */
#ifndef CONFIG_OBJECTS_H
#define CONFIG_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/endpoint.h"
#include "base/schedule.h"

#define CONFIG_LISTS_MAX      1024
#define CONFIG_SOURCES_MAX    1024		/* lists and rule sets together; as FILTER_LISTS_MAX */
#define CONFIG_RULES_MAX      16384
#define CONFIG_RULE_MAX       4096		/* bytes of one */
#define CONFIG_REWRITES_MAX   4096
#define CONFIG_ANSWERS_MAX    16		/* addresses of one rewrite */
#define CONFIG_CLIENTS_MAX    2048
#define CONFIG_CLIENT_ADDRS_MAX 64		/* of one client */
#define CONFIG_TAGS_MAX       16		/* of one client; as RULE_TAGS_MAX */
#define CONFIG_TAG_MAX        32		/* as RULE_TAG_TEXT */
#define CONFIG_GROUPS_MAX     64		/* as MR_GROUPS_MAX */
#define CONFIG_GROUP_CLIENTS_MAX 1024
#define CONFIG_SCHEDULES_MAX  16		/* of one group */
#define CONFIG_NO_TYPES_MAX   4			/* as MR_GROUP_TYPES */
#define CONFIG_SERVERS_MAX    16		/* of one set; as UPSTREAM_SET_MAX */
#define CONFIG_SERVERS_ALL    64		/* different ones in all sets; as UPSTREAM_SERVERS_MAX */
#define CONFIG_ROUTES_MAX     1024
#define CONFIG_SUFFIXES_MAX   1024
#define CONFIG_PINS_MAX       4			/* of one server; as UPSTREAM_PINS_MAX */
#define CONFIG_NAME_MAX       64
#define CONFIG_URL_MAX        2048
#define CONFIG_DNS_NAME_MAX   256		/* as text, its end included */

/* The values and their order are those of enum upstream_strategy. */
enum config_strategy {
	CONFIG_PARALLEL_BEST,
	CONFIG_ORDERED,
	CONFIG_ROUND_ROBIN,
	CONFIG_RANDOM,
	CONFIG_LATENCY,
};

/* What becomes of the subnet that a client says it is in (RFC 7871). */
enum config_ecs {
	CONFIG_ECS_STRIP,
	CONFIG_ECS_FORWARD,
};

/* A server to ask; struct upstream_server has the same. */
struct config_server {
	struct endpoint at;
	bool trust_ad;				/* believe AD in its answers */
	bool no_do;				/* it must not be asked with DO */
	uint8_t pin[CONFIG_PINS_MAX][32];	/* SHA-256 of public keys; one of them must be the server's */
	unsigned pins;				/* 0: any */
};

/* The same server, of which the same is believed and wanted. */
bool config_server_same(const struct config_server *a, const struct config_server *b);

struct config_servers {
	struct config_server *at;
	unsigned count;
};

struct config_route {
	char zone[CONFIG_DNS_NAME_MAX];		/* lower case, without its final dot */
	struct config_servers servers;
	unsigned line;
};

struct config_routes {
	struct config_route *at;
	unsigned count;
};

struct config_suffix {
	char name[CONFIG_DNS_NAME_MAX];		/* lower case, without its final dot; covers itself and all below */
};

struct config_suffixes {
	struct config_suffix *at;
	unsigned count;
};

enum config_origin {
	CONFIG_FROM_FILE,			/* cannot be changed at run time */
	CONFIG_FROM_STATE,			/* made at run time */
};

/* Where an object was written. */
struct config_place {
	unsigned number;			/* of the element in the file's list, 0 .. */
	unsigned line;				/* 0 for what is not in the file */
};

/* A name that stands for another object. */
struct config_ref {
	char name[CONFIG_NAME_MAX];
	unsigned line;
};

struct config_refs {
	struct config_ref *at;
	unsigned count;
};

/* As enum list_format. */
enum config_list_format {
	CONFIG_LIST_AUTO,
	CONFIG_LIST_DOMAINS,
	CONFIG_LIST_HOSTS,
	CONFIG_LIST_ADBLOCK,
	CONFIG_LIST_WILDCARD,
	CONFIG_LIST_DNSMASQ,
	CONFIG_LIST_UNBOUND,
	CONFIG_LIST_RPZ,
	CONFIG_LIST_REGEX,
};

enum config_list_action { CONFIG_LIST_BLOCK, CONFIG_LIST_ALLOW };

struct config_list {
	char name[CONFIG_NAME_MAX];
	enum config_origin origin;
	struct config_place place;
	char *file;				/* beside the configuration, when it was relative; NULL with url */
	char *url;				/* http:// or https://; NULL with file */
	uint32_t refresh_s;			/* of a url; 0: only at a reload */
	enum config_list_format format;
	enum config_list_action action;
};

/* A list's place here is its number everywhere. */
struct config_lists {
	struct config_list *at;
	unsigned count;
};

/* One line, not yet judged: what it means is known to policy/. */
struct config_rule {
	enum config_origin origin;
	struct config_place place;
	uint32_t sum;			/* of the text: among ten thousand most are told apart by it */
	bool added;			/* to a group by config_overlay(); false: the group itself says it */
	char *text;
};

struct config_rules {
	struct config_rule *at;
	unsigned count;
};

/* A local name: its addresses, or the name that it stands for. */
struct config_rewrite {
	char name[CONFIG_DNS_NAME_MAX];		/* lower case, without its final dot; of "*.name" what is behind */
	bool below;				/* "*.name": all names below it, itself not */
	enum config_origin origin;
	struct config_place place;
	struct addr answer[CONFIG_ANSWERS_MAX];	/* without ports */
	unsigned answers;			/* 0: the target */
	char target[CONFIG_DNS_NAME_MAX];	/* "" with answers */
	uint32_t ttl;				/* seconds */
};

struct config_rewrites {
	struct config_rewrite *at;
	unsigned count;
};

/* One way to know a client. */
struct config_client_addr {
	bool is_mac;
	uint8_t mac[6];
	struct addr_prefix prefix;
};

struct config_client_addrs {
	struct config_client_addr *at;
	unsigned count;
};

struct config_tag {
	char text[CONFIG_TAG_MAX];
};

struct config_tags {
	struct config_tag *at;
	unsigned count;
};

struct config_client {
	char name[CONFIG_NAME_MAX];
	enum config_origin origin;
	struct config_place place;
	struct config_client_addrs addresses;
	struct config_tags tags;
};

struct config_clients {
	struct config_client *at;
	unsigned count;
};

/* As enum mr_block_mode. */
enum config_block_mode {
	CONFIG_BLOCK_NULL_ADDRESS,
	CONFIG_BLOCK_NXDOMAIN,
	CONFIG_BLOCK_NODATA,
	CONFIG_BLOCK_REFUSED,
	CONFIG_BLOCK_CUSTOM,
};

/* What a blocked answer says about itself (RFC 8914). */
enum config_ede {
	CONFIG_EDE_NONE,
	CONFIG_EDE_CODE,			/* code 15 alone */
	CONFIG_EDE_TEXT,			/* and the name of the list */
};

/* How a group is told that a name is blocked; what the group does not say is that of filter.block. */
struct config_block {
	bool own_mode, own_ttl, own_ipv4, own_ipv6, own_ede;
	enum config_block_mode mode;
	uint32_t ttl;				/* seconds */
	struct addr ipv4;
	struct addr ipv6;
	enum config_ede ede;
	unsigned line;
};

/* A client of a group. */
struct config_member {
	char name[CONFIG_NAME_MAX];		/* of a client of clients; "": the address below */
	struct config_client_addr addr;
	unsigned client;			/* number of the client of that name */
	unsigned line;
};

struct config_members {
	struct config_member *at;
	unsigned count;
};

struct config_schedule {
	struct schedule window;
	char zone[TZ_NAME_MAX];			/* "": the machine's */
	struct tz *tz;
	bool all;				/* for all lists and rules of the group */
	struct config_refs lists;
	bool *uses;				/* one for each of filter_lists: is it for that list? */
	unsigned line;
};

struct config_schedules {
	struct config_schedule *at;
	unsigned count;
};

/* DNS types, none twice. */
struct config_types {
	uint16_t at[CONFIG_NO_TYPES_MAX];
	unsigned count;
};

struct config_group {
	char name[CONFIG_NAME_MAX];
	enum config_origin origin;
	struct config_place place;
	bool all_lists;				/* names none, so it uses all */
	struct config_refs list_names;
	bool *uses;				/* one for each of filter_lists */
	unsigned lists;				/* how many those are */
	struct config_members clients;
	struct config_rules rules;
	struct config_block block;
	bool safe_search;
	struct config_types no_types;		/* answered as if there were none */
	struct config_schedules schedules;
};

/* Never empty: the first is the group default. */
struct config_groups {
	struct config_group *at;
	unsigned count;
};

/**
 * Does the group use list number @list at @now (seconds since 1970)?
 *
 * A list that a schedule names is in force inside the windows of those that name it alone.
 */
bool config_group_uses(const struct config_group *g, unsigned list, int64_t now);

/* The same for the group's own rules. */
bool config_group_uses_rules(const struct config_group *g, int64_t now);

/* The first instant after @now at which one of the two may change; SCHEDULE_NEVER when there is none. */
int64_t config_group_edge(const struct config_group *g, int64_t now);

#endif
