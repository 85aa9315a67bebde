/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c - one daemon a pins' folder.
 *
 * flock() works on folders of a bpffs, so the folder itself is locked: two
 * daemons with bpffs of their own do not meet, two that share one do, whatever
 * their other namespaces.  The lock goes when the last holder of the
 * descriptor does, also after a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kern/room.h"

/* Is what we locked still what the path leads to?  An earlier daemon may have removed it just now. */
static bool is_still_there(const char *root, int fd)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(root, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int open_folder(const char *root, int *ret_fd, struct err_at *reterr)
{
	int fd;

	if (mkdir(root, 0700) && errno != EEXIST)
		return err_why(reterr, -errno, "the folder for pins %s cannot be made: %s", root, strerror(errno));
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_why(reterr, -errno, "the folder for pins %s cannot be opened: %s", root, strerror(errno));
	*ret_fd = fd;
	return 0;
}

int kern_lock(const char *root, int *ret_fd, struct err_at *reterr)
{
	int fd = -1, err, tries;

	for (tries = 0; tries < 8; tries++) {
		err = open_folder(root, &fd, reterr);
		if (err)
			return err;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			err = errno == EWOULDBLOCK ? -EBUSY : -errno;
			close(fd);
			return err_why(reterr, err, err == -EBUSY ?
				       "another millraced holds the pins in %s: stop it or use another folder" :
				       "the folder for pins %s cannot be locked", root);
		}
		if (is_still_there(root, fd)) {
			*ret_fd = fd;
			return 0;
		}
		close(fd);
	}
	return err_why(reterr, -EBUSY, "the folder for pins %s keeps being removed by somebody", root);
}
