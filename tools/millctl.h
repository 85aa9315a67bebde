/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * millctl.h - what the files of millctl share: commands, the way to the daemon, tables.
 */
#ifndef TOOLS_MILLCTL_H
#define TOOLS_MILLCTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses. */
enum { CTL_OK = 0, CTL_NO = 1, CTL_USAGE = 2 };

#define CTL_OPTIONS_MAX 8
#define CTL_ARGS_MAX    32

struct ctl;

struct ctl_option {
	const char *name;		/* "--client" */
	const char *value;		/* what stands for its value in the help */
	const char *help;
};

struct ctl_command {
	const char *name;		/* may be two words */
	int (*run)(struct ctl *c);
	const char *arg;		/* its arguments in the help, a word each, "..." behind the last: more; NULL: none */
	bool arg_required;		/* all of them are, or none is */
	struct ctl_option option[CTL_OPTIONS_MAX];
	const char *help;
};

/* One call of the program. */
struct ctl {
	const char *socket;
	bool json;
	const struct ctl_command *command;
	const char *arg;			/* the first argument; NULL: not given */
	const char *args[CTL_ARGS_MAX];
	unsigned arg_count;
	const char *option[CTL_OPTIONS_MAX];	/* values, as in command->option */
};

/* ---- millctl_call.c: the daemon ---- */

/**
 * Ask the daemon.
 *
 * @path  behind /api/v1, with its query
 *
 * Returns CTL_OK with the JSON in @ret (the caller's); else it has said what
 * is wrong, with --json as the API's own error on standard output.
 */
int ctl_ask(struct ctl *c, const char *method, const char *path, json_t **ret);

/* Ask, and give the answer to @show; with --json print it as it is. */
int ctl_show(struct ctl *c, const char *method, const char *path, int (*show)(struct ctl *c, const json_t *o));

/* Send @body (taken; NULL when memory is out) and give the answer to @show, as ctl_show(). */
int ctl_send(struct ctl *c, const char *method, const char *path, json_t *body,
	     int (*show)(struct ctl *c, const json_t *o));

/* "BEFORE/name" with @name as one segment of a path, and @behind; false when too long. */
bool ctl_path_name(char *buf, size_t size, const char *before, const char *name, const char *behind);

/* The value of one of the command's options; NULL: not given. */
const char *ctl_option(const struct ctl *c, const char *name);

/* Say what is wrong with an argument; CTL_USAGE. */
int ctl_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Read a stream of JSON lines; @line gets each, taken apart (with --json they are printed as they come). */
int ctl_stream(struct ctl *c, const char *path, void (*line)(const json_t *o));

/* "PATH?name=value&..." from pairs of name and value (NULL values are left out), ended by NULL; false when too long. */
bool ctl_path(char *buf, size_t size, const char *path, ...) __attribute__((sentinel));

/* Member at a path "a.b.c": "" or 0 or false when it is not there. */
const json_t *ctl_get(const json_t *o, const char *path);
const char *ctl_text(const json_t *o, const char *path);
uint64_t ctl_number(const json_t *o, const char *path);
bool ctl_bool(const json_t *o, const char *path);

/* ---- millctl_table.c: output for people ---- */

struct table;

/* @right: one letter a column, 'l' or 'r'.  Exits when memory is out: there is nothing else to do here. */
struct table *table_new(const char *columns);
/* As many strings as columns. */
void table_row(struct table *t, ...);
/* Print with @indent blanks in front, and free. */
void table_print(struct table *t, unsigned indent);

/* Numbers for people, in a ring of static buffers: "1,234,567", "1.5 MiB", "840 ns", "2 d 3 h". */
const char *show_number(uint64_t v);
const char *show_bytes(uint64_t v);
const char *show_ns(uint64_t v);
const char *show_duration(uint64_t seconds);
const char *show_percent(double part);

/* "1 pause", "2 pauses". */
const char *show_count(uint64_t v, const char *one, const char *many);

/* Where an object is from, by its member "origin": "file" or "millctl". */
const char *show_origin(const json_t *o);

/* The strings of an array with blanks between; @none when it is empty.  Returns @buf. */
const char *show_words(const json_t *all, char *buf, size_t size, const char *none);

/* An array from "a,b,c" (empty words are left out); NULL when memory is out. */
json_t *ctl_words(const char *text);

/* Tell of each line that a list gave up, with examples; the table above them. */
void show_list_table(const json_t *lists);
void show_skipped(const json_t *list);

/* ---- millctl_compare.c ---- */

/**
 * Compare two responses to one question, apart from ID and TTLs; RRsets are sets.
 *
 * @differs  called for each difference with a line for people
 *
 * Returns the number of differences, -EBADMSG when one is malformed, or -ENOMEM.
 */
int compare_replies(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, void (*differs)(const char *line));

/* ---- commands ---- */

int ctl_status(struct ctl *c);
int ctl_stats(struct ctl *c);
int ctl_memory(struct ctl *c);
int ctl_upstreams(struct ctl *c);
int ctl_lists(struct ctl *c);
int ctl_lists_check(struct ctl *c);
int ctl_why(struct ctl *c);
int ctl_flush(struct ctl *c);
int ctl_tail(struct ctl *c);
int ctl_reload(struct ctl *c);
int ctl_config_check(struct ctl *c);
int ctl_config_reference(struct ctl *c);
int ctl_help(struct ctl *c);

/* millctl_sources.c */
int ctl_list_show(struct ctl *c);
int ctl_list_add(struct ctl *c);
int ctl_list_remove(struct ctl *c);
int ctl_list_refresh(struct ctl *c);
/* millctl_objects.c */
int ctl_rule_list(struct ctl *c);
int ctl_rule_add(struct ctl *c);
int ctl_rule_remove(struct ctl *c);
int ctl_rewrite_list(struct ctl *c);
int ctl_rewrite_add(struct ctl *c);
int ctl_rewrite_remove(struct ctl *c);
int ctl_client_list(struct ctl *c);
int ctl_client_show(struct ctl *c);
int ctl_client_set(struct ctl *c);
int ctl_client_delete(struct ctl *c);
/* millctl_groups.c */
int ctl_group_list(struct ctl *c);
int ctl_group_show(struct ctl *c);
int ctl_group_set(struct ctl *c);
int ctl_group_delete(struct ctl *c);
/* millctl_pause.c */
int ctl_pause(struct ctl *c);
int ctl_pause_list(struct ctl *c);
int ctl_resume(struct ctl *c);

#endif
