/* SPDX-License-Identifier: BSD-2-Clause */
/* rig.c - what a fetch needs. */
#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "tests/unit/lists/rig.h"

static const struct names_row rows[] = {
	{ "lists.example", "127.0.0.1" },
	{ "mirror.example", "edge.mirror.example" },
	{ "edge.mirror.example", "127.0.0.1" },
	{ "six.example", "::1" },
	{ "dead.example", "127.0.0.1" }, { "dead.example", "::1" },	/* with the server at one of them only */
};

void make_folder(char *buf, size_t size)
{
	snprintf(buf, size, "%s/millrace-lists-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert(mkdtemp(buf));
}

void remove_folder(const char *path)
{
	char inner[512];
	struct dirent *e;
	DIR *d = opendir(path);

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
		if (e->d_type == DT_DIR)
			remove_folder(inner);
		else
			unlink(inner);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

struct rig *rig_new(server_page page)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert(r);
	make_folder(r->folder, sizeof(r->folder));
	snprintf(r->lists, sizeof(r->lists), "%s/lists", r->folder);
	server_start(&r->http, page, r);
	names_start(&r->names, rows, sizeof(rows) / sizeof(rows[0]));
	r->job = (struct lists_job){ .name = "ads", .folder = r->lists, .servers = { r->names.addr }, .server_count = 1,
				     .timeout_ms = 5000, .max_bytes = 1 << 20, .now_s = 1000000 };
	return r;
}

void rig_free(struct rig *r)
{
	server_stop(&r->http);
	names_stop(&r->names);
	remove_folder(r->folder);
	free(r);
}

const char *rig_url(struct rig *r, const char *host, const char *path)
{
	static __thread char url[HTTP_URL_MAX];

	snprintf(url, sizeof(url), "http://%s:%u%s", host, r->http.addr.port, path);
	return url;
}

enum lists_event rig_fetch_url(struct rig *r, const char *url)
{
	snprintf(r->job.url, sizeof(r->job.url), "%s", url);
	lists_fetch(&r->job);
	return r->job.event;
}

enum lists_event rig_fetch(struct rig *r, const char *path)
{
	return rig_fetch_url(r, rig_url(r, "lists.example", path));
}

char *rig_file(struct rig *r, const char *name)
{
	char path[512], *text;
	size_t size;

	snprintf(path, sizeof(path), "%s/%s", r->lists, name);
	if (file_read(path, 1 << 22, &text, &size))
		text = strdup("");
	return text;
}
