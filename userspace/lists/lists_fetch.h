/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists_fetch.h - one try to fetch one list, from the name to the file.
 *
 * Blocks its thread.  The job holds copies of all it needs, so that the loop's
 * thread may change everything meanwhile; only @cancel is shared.
 */
#ifndef LISTS_LISTS_FETCH_H
#define LISTS_LISTS_FETCH_H

#include <stdatomic.h>
#include "lists/lists.h"
#include "net/http.h"

#define LISTS_REDIRECTS_MAX 5

struct lists_job {
	/* set by the asker */
	char name[LISTS_NAME_MAX];
	char url[HTTP_URL_MAX];
	unsigned format;		/* enum list_format */
	const char *folder;
	const char *ca_file;
	struct addr servers[LISTS_SERVERS_MAX];
	unsigned server_count;
	unsigned timeout_ms;
	uint64_t max_bytes;
	int64_t now_s;
	atomic_bool cancel;
	/* the outcome */
	enum lists_event event;
	int err;			/* of a failure; -ECANCELED */
	char error[LISTS_WHY_MAX];	/* of a failure: what and where */
	char note[LISTS_WHY_MAX];	/* "" when nothing is odd */
	uint64_t bytes;			/* of the copy, when there is a new one */
	unsigned retry_after_s;		/* as the server asked for; 0: it did not */
};

/**
 * Try.
 *
 * With validators of the same URL and an intact copy the request is
 * conditional (RFC 9110 section 13.1).  Up to LISTS_REDIRECTS_MAX redirects are
 * followed, to http and https, never from https to http; the host of each is
 * resolved by the job's servers.  The body goes to the disk as it comes and is
 * refused as soon as it cannot be a list.
 */
void lists_fetch(struct lists_job *j);

#endif
