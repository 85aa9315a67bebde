/* SPDX-License-Identifier: BSD-2-Clause */
/* lmdb_file.c - whose file it is, whether it is whole, and where it goes when it is not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "store/lmdb.h"
#include "store/lmdb_check.h"
#include "store/lmdb_file.h"

#define PATH_SIZE   4200
#define FOREIGN_MAX 9
#define TRIES       3			/* a file that was moved aside leaves room for the next */

static int move(const char *path, const char *to, struct err_at *reterr)
{
	char lock[PATH_SIZE];

	if (rename(path, to))
		return err_why(reterr, -errno, "%s: it cannot be moved to %s: %s", path, to, strerror(errno));
	snprintf(lock, sizeof(lock), "%s-lock", path);
	unlink(lock);
	file_sync_folder(path);
	return 0;
}

int lmdb_file_damaged(const char *path, const char *why, char *ret_note, size_t note_size, struct err_at *reterr)
{
	char to[PATH_SIZE];
	int err;

	snprintf(to, sizeof(to), "%s.damaged", path);
	err = move(path, to, reterr);
	if (!err)
		snprintf(ret_note, note_size, "%s was damaged (%s) and is %s now: the durable cache begins anew", path, why, to);
	return err;
}

int lmdb_file_foreign(const char *path, char *ret_note, size_t note_size, struct err_at *reterr)
{
	char to[PATH_SIZE];
	unsigned n;
	int err;

	snprintf(to, sizeof(to), "%s.foreign", path);
	for (n = 2; access(to, F_OK) == 0 && n <= FOREIGN_MAX; n++)
		snprintf(to, sizeof(to), "%s.foreign.%u", path, n);
	if (access(to, F_OK) == 0)
		return err_why(reterr, -EEXIST, "%s: this is not our database, and %u such lie beside it already: remove some",
			       path, FOREIGN_MAX);
	err = move(path, to, reterr);
	if (!err)
		snprintf(ret_note, note_size, "%s was not our database and is %s now: the durable cache begins anew", path, to);
	return err;
}

/* The lock is for the process's life: two daemons with one file would bring back what the other one flushed. */
static int open_locked(const char *path, int *ret_fd, struct err_at *reterr)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), err = 0;
	struct stat st;

	if (fd < 0)
		return err_why(reterr, -errno, "%s: cannot be opened: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = err_why(reterr, -ENOTSUP, "%s: this is not a file", path);
	else if (flock(fd, LOCK_EX | LOCK_NB))
		err = err_why(reterr, -EBUSY, "%s: another process uses it", path);
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

int lmdb_file_open(const char *path, int *ret_fd, char *ret_note, size_t note_size, struct err_at *reterr)
{
	struct err_at why = { 0 };
	int fd = -1, err, tries;

	*ret_note = '\0';
	for (tries = 0; tries < TRIES; tries++) {
		err = open_locked(path, &fd, reterr);
		if (err)
			return err;
		err = lmdb_check(fd, &why);
		if (!err || err == -ENODATA) {
			*ret_fd = fd;
			return 0;
		}
		close(fd);
		if (err == -EBADMSG)
			err = lmdb_file_damaged(path, why.why, ret_note, note_size, reterr);
		else if (err == -EPROTONOSUPPORT)
			err = lmdb_file_foreign(path, ret_note, note_size, reterr);
		else
			return err_why(reterr, err, "%s: cannot be read: %s", path, strerror(-err));
		if (err)
			return err;
	}
	return err_why(reterr, -EIO, "%s: what was just made is damaged", path);
}

static int give(const char *path, uid_t uid, gid_t gid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err = 0;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISREG(st.st_mode) && st.st_uid != uid && fchown(fd, uid, gid))
		err = -errno;
	close(fd);
	return err;
}

int lmdb_own(const char *path, uid_t uid, gid_t gid, struct err_at *reterr)
{
	char lock[PATH_SIZE];
	int err = give(path, uid, gid);

	snprintf(lock, sizeof(lock), "%s-lock", path);
	if (!err)
		err = give(lock, uid, gid);
	return err ? err_why(reterr, err, "%s: cannot be given to the service's user: %s", path, strerror(-err)) : 0;
}
