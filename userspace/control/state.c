/* SPDX-License-Identifier: BSD-2-Clause */
/* state.c - the state directory and what is kept in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "control/internal.h"
#include "policy/secret.h"

/* Make a folder (its parents must be there) for the service's user; one that exists keeps its owner. */
static int folder(const char *path, mode_t mode, uid_t uid, gid_t gid, struct err_at *reterr)
{
	struct stat st;

	if (mkdir(path, mode) == 0) {
		if (geteuid() == 0 && chown(path, uid, gid))
			return err_why(reterr, -errno, "%s: the folder cannot be given to the service's user: %s",
				       path, strerror(errno));
		return 0;
	}
	if (errno != EEXIST || stat(path, &st) || !S_ISDIR(st.st_mode))
		return err_why(reterr, errno == EEXIST ? -ENOTDIR : -errno, "%s: the folder cannot be made: %s", path,
			       errno == EEXIST ? "something else has that name" : strerror(errno));
	return 0;
}

int state_folders(const struct config *config, uid_t uid, gid_t gid, struct err_at *reterr)
{
	char parent[CONFIG_PATH_MAX], *slash;
	int err;

	err_where(reterr, NULL, 0, "state");
	err = folder(config->state, 0750, uid, gid, reterr);
	if (err)
		return err;
	snprintf(parent, sizeof(parent), "%s", config->api_socket);
	slash = strrchr(parent, '/');
	if (!slash || slash == parent)
		return 0;
	*slash = '\0';
	err_where(reterr, NULL, 0, "api.socket");
	return folder(parent, 0755, uid, gid, reterr);
}

static int write_secret(const char *path, const struct mr_secret *s, uid_t uid, gid_t gid, struct err_at *reterr)
{
	char temp[CONFIG_PATH_MAX + 24];
	int fd, err = 0;

	snprintf(temp, sizeof(temp), "%s.new", path);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_why(reterr, -errno, "%s: the secret cannot be written: %s", temp, strerror(errno));
	if (write(fd, s, sizeof(*s)) != sizeof(*s) || fsync(fd) || (geteuid() == 0 && fchown(fd, uid, gid)) ||
	    rename(temp, path))
		err = err_why(reterr, errno ? -errno : -EIO, "%s: the secret cannot be written: %s", path,
			      strerror(errno));
	close(fd);
	if (err)
		unlink(temp);
	return err;
}

int state_secret(const char *folder_path, uid_t uid, gid_t gid, struct mr_secret *ret, struct err_at *reterr)
{
	char path[CONFIG_PATH_MAX + 16];
	struct mr_secret s;
	ssize_t n;
	int fd;

	err_where(reterr, NULL, 0, "state");
	snprintf(path, sizeof(path), "%s/secret", folder_path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, &s, sizeof(s));
		close(fd);
		if (n == sizeof(s) && secret_valid(&s)) {
			*ret = s;
			return 0;
		}
		/* Of another version, or damaged: all that was hashed with it goes with it. */
	} else if (errno != ENOENT) {
		return err_why(reterr, -errno, "%s: the secret cannot be read: %s", path, strerror(errno));
	}
	secret_make(ret);
	return write_secret(path, ret, uid, gid, reterr);
}

int state_lock(const char *folder_path, int *ret_fd, struct err_at *reterr)
{
	char path[CONFIG_PATH_MAX + 16];
	int fd;

	err_where(reterr, NULL, 0, "state");
	snprintf(path, sizeof(path), "%s/lock", folder_path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_why(reterr, -errno, "%s: cannot be opened: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return err_why(reterr, -EBUSY, "%s: another millraced uses this folder: stop it first", folder_path);
	}
	*ret_fd = fd;
	return 0;
}
