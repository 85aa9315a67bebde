/* SPDX-License-Identifier: BSD-2-Clause */
/* lists_store.c - copies and side files, replaced by renaming. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "lists/lists_store.h"

#define META_MAX (HTTP_URL_MAX + 1024)
#define BLOCK    65536

const char *lists_store_name(const char *name, char *buf)
{
	const unsigned char *p = (const unsigned char *)name;
	size_t at = 0;

	for (; *p && at + 4 < LISTS_FILE_NAME_MAX - 5; p++) {
		if (isascii(*p) && (isalnum(*p) || *p == '-' || *p == '_'))
			buf[at++] = (char)*p;
		else
			at += (size_t)sprintf(buf + at, "%%%02X", *p);
	}
	buf[at] = '\0';
	return buf;
}

static void with_suffix(const char *name, const char *suffix, char *buf)
{
	lists_store_name(name, buf);
	strcat(buf, suffix);		/* the name left room for it */
}

int lists_store_open(const char *folder, int *ret_dir)
{
	int dir;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return -errno;
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	*ret_dir = dir;
	return 0;
}

static int open_plain(int dir, const char *name, struct stat *ret)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, ret))
		err = -errno;
	else if (!S_ISREG(ret->st_mode))
		err = -ENOTSUP;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static void take(char *to, size_t size, const char *value)
{
	snprintf(to, size, "%s", strlen(value) < size ? value : "");
}

/* One line of a side file: "key: value". */
static void meta_line(struct lists_meta *m, char *line)
{
	char *value = strstr(line, ": ");

	if (!value)
		return;
	*value = '\0';
	value += 2;
	if (!strcmp(line, "url"))
		take(m->url, sizeof(m->url), value);
	else if (!strcmp(line, "etag"))
		take(m->etag, sizeof(m->etag), value);
	else if (!strcmp(line, "last-modified"))
		take(m->modified, sizeof(m->modified), value);
	else if (!strcmp(line, "checked"))
		m->checked_s = strtoll(value, NULL, 10);
	else if (!strcmp(line, "changed"))
		m->changed_s = strtoll(value, NULL, 10);
	else if (!strcmp(line, "bytes"))
		m->bytes = strtoull(value, NULL, 10);
}

static void read_meta(int dir, const char *name, struct lists_meta *ret)
{
	char file[LISTS_FILE_NAME_MAX], text[META_MAX + 1], *line, *rest = text;
	struct stat st;
	size_t n;
	int fd, err;

	with_suffix(name, ".meta", file);
	fd = open_plain(dir, file, &st);
	if (fd < 0)
		return;
	err = file_fill(fd, text, META_MAX, &n);
	close(fd);
	if (err)
		return;
	text[n] = '\0';
	while ((line = strsep(&rest, "\n")))
		meta_line(ret, line);
}

int lists_store_look(int dir, const char *name, struct lists_meta *ret, uint64_t *ret_bytes)
{
	char file[LISTS_FILE_NAME_MAX];
	struct stat st;
	int fd;

	memset(ret, 0, sizeof(*ret));
	fd = open_plain(dir, lists_store_name(name, file), &st);
	if (fd < 0)
		return fd;
	close(fd);
	read_meta(dir, name, ret);
	if (ret->bytes != (uint64_t)st.st_size)
		memset(ret, 0, sizeof(*ret));
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

static int begin(struct lists_copy *c, int dir)
{
	*c = (struct lists_copy){ .dir = dir, .fd = -1 };
	return 0;
}

static int create(struct lists_copy *c)
{
	/* what an earlier run left is not written to: it may be anything */
	if (unlinkat(c->dir, c->temporary, 0) && errno != ENOENT)
		return -errno;
	c->fd = openat(c->dir, c->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return c->fd < 0 ? -errno : 0;
}

int lists_copy_begin(struct lists_copy *c, int dir, const char *name)
{
	begin(c, dir);
	lists_store_name(name, c->name);
	with_suffix(name, ".new", c->temporary);
	return create(c);
}

int lists_copy_write(struct lists_copy *c, const char *p, size_t size)
{
	int err = file_write(c->fd, p, size);

	if (!err)
		c->bytes += size;
	return err;
}

int lists_copy_commit(struct lists_copy *c)
{
	int err = 0;

	if (fsync(c->fd) || renameat(c->dir, c->temporary, c->dir, c->name))
		err = -errno;
	if (err) {
		lists_copy_drop(c);
		return err;
	}
	close(c->fd);
	c->fd = -1;
	fsync(c->dir);			/* it has its name already; at worst the old one is there after a crash */
	return 0;
}

void lists_copy_drop(struct lists_copy *c)
{
	if (c->fd < 0)
		return;
	close(c->fd);
	unlinkat(c->dir, c->temporary, 0);
	c->fd = -1;
}

bool lists_copy_same(const struct lists_copy *c)
{
	char *a = malloc(2 * BLOCK), *b = a + BLOCK;
	bool same = false;
	size_t n = 0, m;
	struct stat st;
	int fd = -1;

	if (!a)
		goto out;
	fd = open_plain(c->dir, c->name, &st);
	if (fd < 0 || (uint64_t)st.st_size != c->bytes || lseek(c->fd, 0, SEEK_SET))
		goto out;
	do {
		same = !file_fill(c->fd, a, BLOCK, &n) && !file_fill(fd, b, BLOCK, &m) && n == m && !memcmp(a, b, n);
	} while (same && n);
out:
	if (fd >= 0)
		close(fd);
	free(a);
	return same;
}

int lists_store_meta(int dir, const char *name, const struct lists_meta *m)
{
	char text[META_MAX];
	struct lists_copy c;
	int err;

	begin(&c, dir);
	with_suffix(name, ".meta", c.name);
	with_suffix(name, ".new", c.temporary);
	err = create(&c);
	if (err)
		return err;
	snprintf(text, sizeof(text), "url: %s\netag: %s\nlast-modified: %s\nchecked: %" PRId64 "\nchanged: %" PRId64
		 "\nbytes: %" PRIu64 "\n", m->url, m->etag, m->modified, m->checked_s, m->changed_s, m->bytes);
	err = lists_copy_write(&c, text, strlen(text));
	if (!err)
		return lists_copy_commit(&c);
	lists_copy_drop(&c);
	return err;
}

/* Files of ours are NAME, NAME.meta and NAME.new; others are left alone. */
static bool is_left(const char *file, bool (*is_kept)(void *arg, const char *name), void *arg)
{
	char name[LISTS_FILE_NAME_MAX];
	size_t len = strcspn(file, ".");

	if (!len || len >= sizeof(name) || (file[len] && strcmp(file + len, ".meta") && strcmp(file + len, ".new")))
		return false;
	memcpy(name, file, len);
	name[len] = '\0';
	return !is_kept(arg, name);
}

int lists_store_sweep(int dir, bool (*is_kept)(void *arg, const char *name), void *arg)
{
	int count = 0, fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		count = -errno;
		if (fd >= 0)
			close(fd);
		return count;
	}
	while ((e = readdir(d)))
		if (is_left(e->d_name, is_kept, arg) && !unlinkat(dir, e->d_name, 0))
			count++;
	closedir(d);
	return count;
}
