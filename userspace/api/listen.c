/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.c - the local socket of the API.
 *
 * Who may talk to the daemon is who may open the socket, so it never exists
 * with wider rights than those it ends with: it is bound under a name of its
 * own without any rights, gets owner and mode, and is then renamed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "api/listen.h"

#define BACKLOG 256

static int set_path(struct sockaddr_un *sa, const char *path, const char *suffix, struct err_at *reterr)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	if ((size_t)snprintf(sa->sun_path, sizeof(sa->sun_path), "%s%s", path, suffix) >= sizeof(sa->sun_path))
		return err_why(reterr, -ENAMETOOLONG, "the path of a local socket has at most %zu bytes, and this one "
			       "needs %zu for its temporary name", sizeof(sa->sun_path) - strlen(suffix) - 1,
			       strlen(suffix));
	return 0;
}

/* 0 when the place is free or holds what a dead daemon left behind. */
static int check_place(const char *path, const struct sockaddr_un *sa, struct err_at *reterr)
{
	struct stat st;
	int fd;
	int err;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_why(reterr, -errno, "cannot look at it: %s", strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_why(reterr, -EADDRINUSE, "there is something else than a socket; it is left alone");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_why(reterr, -errno, "cannot make a socket: %s", strerror(errno));
	err = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0 ? -errno : 0;
	close(fd);
	/* EAGAIN: its queue is full, so it lives. */
	if (err && err != -EAGAIN)
		return err == -ECONNREFUSED || err == -ENOENT ? 0 :
		       err_why(reterr, err, "cannot tell whether a daemon answers there: %s", strerror(-err));
	return err_why(reterr, -EADDRINUSE, "another daemon answers there");
}

static int bind_as(int fd, const struct sockaddr_un *temp, uid_t uid, gid_t gid, struct err_at *reterr)
{
	int err;

	unlink(temp->sun_path);
	/* The mode of an unbound socket becomes that of its name (unix(7)); the umask belongs to all threads. */
	if (fchmod(fd, 0) < 0 || bind(fd, (const struct sockaddr *)temp, sizeof(*temp)) < 0)
		return err_why(reterr, -errno, "user %d cannot make a socket in that folder: %s", (int)geteuid(), strerror(errno));
	if (listen(fd, BACKLOG) < 0 || chown(temp->sun_path, uid, gid) < 0 || chmod(temp->sun_path, 0660) < 0) {
		err = -errno;
		unlink(temp->sun_path);
		return err_why(reterr, err, "cannot listen with owner %d:%d and mode 0660: %s", (int)uid, (int)gid,
			       strerror(-err));
	}
	return 0;
}

int api_listen(const char *path, uid_t uid, gid_t gid, int *ret_fd, struct err_at *reterr)
{
	struct sockaddr_un at, temp;
	int fd = -1;
	int err;

	err_where(reterr, path, 0, NULL);
	err = set_path(&at, path, "", reterr);
	if (!err)
		err = set_path(&temp, path, ".new", reterr);
	if (!err)
		err = check_place(path, &at, reterr);
	if (err)
		goto out;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		err = err_why(reterr, -errno, "cannot make a socket: %s", strerror(errno));
		goto out;
	}
	err = bind_as(fd, &temp, uid, gid, reterr);
	if (err)
		goto out;
	if (rename(temp.sun_path, path) < 0) {
		err = err_why(reterr, -errno, "cannot give the socket its name: %s", strerror(errno));
		unlink(temp.sun_path);
		goto out;
	}
	*ret_fd = fd;
	fd = -1;
out:
	if (fd >= 0)
		close(fd);
	return err;
}
