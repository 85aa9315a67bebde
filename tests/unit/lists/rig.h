/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - an HTTP server, a name server and a folder: what a fetch needs.
 */
#ifndef TESTS_LISTS_RIG_H
#define TESTS_LISTS_RIG_H

#include "lists/lists_fetch.h"
#include "tests/unit/lists/names.h"
#include "tests/unit/lists/server.h"

struct rig {
	struct server http;
	struct names names;
	char folder[64];		/* is there; its subfolder "lists" is the room's */
	char lists[80];
	struct lists_job job;
};

/* lists.example and mirror.example are the HTTP server, six.example is ::1, dead.example both. */
struct rig *rig_new(server_page page);
void rig_free(struct rig *r);

/* "http://HOST:PORT" and @path; returns a buffer that the next call overwrites. */
const char *rig_url(struct rig *r, const char *host, const char *path);

/* Fetch list "ads" from http://lists.example:PORT@path; the outcome is in r->job. */
enum lists_event rig_fetch(struct rig *r, const char *path);

/* The same from an URL. */
enum lists_event rig_fetch_url(struct rig *r, const char *url);

/* The file @name of the room, "" when there is none; free() it. */
char *rig_file(struct rig *r, const char *name);

void make_folder(char *buf, size_t size);
void remove_folder(const char *path);

#endif
