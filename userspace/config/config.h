/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.h - the configuration, read from YAML and checked.
 *
 * struct config and all that is known about its members come from the rows of
 * options.def: the path of an option with '_' for '.' is the member's name.
 * Immutable once loaded, but for objects made at run time, which are added
 * before anybody else sees it.  Reads text, not files.  libyaml is known to document.c
 * and to the readers behind reader.h.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/err.h"
#include "config/objects.h"

#define CONFIG_SIZE_MAX       (1U << 20)	/* bytes of a file */
#define CONFIG_WORKERS_MAX    64
#define CONFIG_ADDRS_MAX      32
#define CONFIG_LISTEN_MAX     CONFIG_ADDRS_MAX
#define CONFIG_INTERFACES_MAX 8
#define CONFIG_PREFIXES_MAX   256
#define CONFIG_PATH_MAX       1024
#define CONFIG_SOCKET_MAX     107		/* sun_path without its end */
#define CONFIG_ERRORS_MAX     32

/* The values and their order are those of enum kern_mode. */
enum config_mode { CONFIG_MODE_AUTO, CONFIG_MODE_NATIVE, CONFIG_MODE_GENERIC, CONFIG_MODE_OFF };

enum config_attach { CONFIG_ATTACH_LINK };

enum config_backend { CONFIG_BACKEND_MEMORY, CONFIG_BACKEND_LMDB };

/* As enum lmdb_sync. */
enum config_lmdb_sync { CONFIG_SYNC_FULL, CONFIG_SYNC_NO_META, CONFIG_SYNC_PERIODIC, CONFIG_SYNC_NONE };

/* As enum mr_access. */
enum config_access { CONFIG_ACCESS_ALLOW, CONFIG_ACCESS_REFUSE };

typedef char config_user[32];
typedef char config_text[64];
typedef char config_path[CONFIG_PATH_MAX];

struct config_addrs {
	struct addr at[CONFIG_ADDRS_MAX];	/* the port is never 0 */
	unsigned count;
};

struct config_interfaces {
	char at[CONFIG_INTERFACES_MAX][16];	/* IF_NAMESIZE */
	unsigned count;
};

struct config_prefixes {
	struct addr_prefix at[CONFIG_PREFIXES_MAX];
	unsigned count;
};

#define KIND(kind, read, same, type, expected) typedef type config_type_##kind;
#include "config/kinds.def"
#undef KIND

struct config {
#define OPTION(member, path, kind, ...) config_type_##kind member;
#define PLANNED(path, help)
#include "config/options.def"
#undef OPTION
#undef PLANNED
	bool upstreams_servers_given;		/* false: those of /etc/resolv.conf */
	char file[256];				/* its name for errors; "" when there is none */
};

/* All that was wrong with a file, in the order of its lines. */
struct config_errors {
	struct err_at at[CONFIG_ERRORS_MAX];
	unsigned count;
	unsigned more;				/* errors that found no room above */
};

/**
 * Read and check a configuration; an empty text gives the defaults.
 *
 * @file  its name for errors; relative paths start in its folder; may be NULL
 *
 * Returns 0 with a configuration that the caller frees; -EINVAL with @reterrs
 * (one row a fault: file, line, key, what was expected) when anything is
 * wrong: not YAML, an unknown, repeated or unbuilt key, a type, a range, a
 * size over CONFIG_SIZE_MAX; -ENOMEM.
 */
int config_load(const char *text, size_t size, const char *file, struct config **ret, struct config_errors *reterrs);

/* Takes NULL. */
void config_free(struct config *c);

/**
 * Add one object that was made at run time, with origin CONFIG_FROM_STATE.
 *
 * @kind  "list", "rewrite", "client" or "group": an object as in the file,
 *        whose name is @name (it may be in @json too, then the same); "rule":
 *        a text, or { rule: text }, and @name says which in errors;
 *        CONFIG_GROUP_RULE: { group:, rule: } for a group that is there
 *        already, and @name is the two with a blank between
 * @json  one value; relative paths are refused
 *
 * Numbers of other objects are not valid until config_check_whole() has been
 * called, once behind the last one.
 *
 * Returns 0; -EINVAL with @errs and nothing added: as config_load(), and an
 * object whose name is taken (-EEXIST then, "managed by" the file or "there
 * already"); -ENOMEM.  @errs is added to.
 */
#define CONFIG_GROUP_RULE "group rule"
int config_overlay(struct config *c, const char *kind, const char *name, const char *json, struct config_errors *errs);

/**
 * Check what holds between objects, and resolve what names others.
 *
 * Names that are there once, lists and clients that exist, a client's address
 * in one group alone, bounds of the whole.  config_load() has called it; again
 * after config_overlay().  Returns 0, -EINVAL with @errs (added to), -ENOMEM.
 */
int config_check_whole(struct config *c, struct config_errors *errs);

/* What is known about one option. */
struct config_option {
	const char *path;
	const char *expected;			/* the kind of value, for people */
	const char *fallback;			/* the default as one would write it; NULL: none */
	uint32_t min;				/* of a number, or of the length of a list; both 0: no bounds */
	uint32_t max;
	bool restart;				/* a change waits for the next start */
	const char *help;
};

/* The @i-th option (0 ..) in the order of the reference, built ones only; NULL past the last. */
const struct config_option *config_option(unsigned i);

/**
 * Compare two configurations.
 *
 * Calls @each for every option whose value differs.  Returns how many of them need a restart.
 */
unsigned config_changes(const struct config *before, const struct config *after,
			void (*each)(const struct config_option *o, void *arg), void *arg);

/**
 * Write the reference (docs/CONFIGURATION.md) from the options' rows.
 *
 * Returns a string of the heap (the caller's), or NULL when memory is out.
 */
char *config_reference(void);

#endif
