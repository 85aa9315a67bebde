/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pins.c - what stays on the bpffs when the daemon does not.
 *
 *	<root>/<hash of all layouts>/<map>	the maps
 *	<root>/link-<interface>			the links, at a place that no layout changes
 *
 * All paths go through the descriptor of the locked root, so they work after
 * privileges have dropped even though /sys/fs/bpf itself is closed to us.  A
 * pin is input: it is checked before it is used.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kern/room.h"

#define LINK_PREFIX "link-"

const char *kern_pin_path(int root_fd, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "/proc/self/fd/%d/%s", root_fd, name);
	return buf;
}

static void folder_name(uint64_t layout, char buf[17])
{
	snprintf(buf, 17, "%016llx", (unsigned long long)layout);
}

static const char *map_path(const struct kern *k, int m, char *buf, size_t size)
{
	char folder[17], name[64];

	folder_name(k->layout, folder);
	snprintf(name, sizeof(name), "%s/%s", folder, kern_map_names[m]);
	return kern_pin_path(k->root_fd, name, buf, size);
}

/* ---- checking ---- */

static uint32_t wanted_entries(const struct kern *k, int m)
{
	switch (m) {
	case MAP_mr_filter:   return k->sizes.filter * MR_UNITS;
	case MAP_mr_bloom:    return k->sizes.bloom * MR_UNITS;
	case MAP_mr_verdicts: return k->sizes.verdicts * MR_UNITS;
	case MAP_mr_buckets:  return k->sizes.buckets;
	case MAP_mr_answers:  return k->sizes.pages;
	case MAP_mr_events:   return k->sizes.cpus;
	case MAP_mr_clients:  return MR_CLIENT_BUCKETS;
	case MAP_mr_ede:      return MR_UNITS * MR_LISTS_MAX;
	default:              return 1;
	}
}

/* The filter's maps may have grown beyond what is asked for now: they are taken as they are. */
static bool may_be_bigger(int m)
{
	return m == MAP_mr_filter || m == MAP_mr_bloom || m == MAP_mr_verdicts;
}

static int check_map(const struct kern *k, int m, int fd, uint32_t *ret_entries, struct err_at *reterr)
{
	struct bpf_map_info i = { 0 };
	const struct kern_kind *want = &k->kinds[m];
	uint32_t len = sizeof(i), entries = wanted_entries(k, m);

	if (bpf_obj_get_info_by_fd(fd, &i, &len))
		return err_why(reterr, -ESTALE, "pin %s cannot be looked at: %s", kern_map_names[m], strerror(errno));
	if (i.type != want->type || i.key_size != want->key_size || i.value_size != want->value_size ||
	    i.map_flags != want->flags)
		return err_why(reterr, -ESTALE, "pin %s is a map of another kind", kern_map_names[m]);
	if (may_be_bigger(m) ? i.max_entries < entries || i.max_entries % MR_UNITS : i.max_entries != entries)
		return err_why(reterr, -ESTALE, "pin %s has %u entries, %u are wanted", kern_map_names[m],
			       i.max_entries, entries);
	*ret_entries = i.max_entries;
	return 0;
}

static bool fits(uint64_t base, uint64_t count, uint32_t entries)
{
	return base + count <= entries;
}

static bool is_unit_sound(const struct kern *k, const struct mr_unit *u, const uint32_t entries[KERN_MAP_COUNT])
{
	if (!u->fingerprint && !u->depths)
		return true;		/* nothing was published yet */
	return u->fingerprint == k->secret.fingerprint && u->stash_count <= MR_STASH_MAX && u->sets <= MR_SETS_MAX &&
	       !(u->bucket_mask & (u->bucket_mask + 1)) && !(u->bloom_mask & (u->bloom_mask + 1)) &&
	       fits(u->bucket_base, u->bucket_mask + 1ULL, entries[MAP_mr_filter]) &&
	       fits(u->bloom_base, u->bloom_mask + 1ULL, entries[MAP_mr_bloom]) &&
	       fits(u->verdict_base, (uint64_t)u->sets * u->groups, entries[MAP_mr_verdicts]) &&
	       fits(u->ede_base, MR_LISTS_MAX, entries[MAP_mr_ede]);
}

static int check_contents(const struct kern *k, const int fds[KERN_MAP_COUNT], const uint32_t entries[KERN_MAP_COUNT],
			  struct err_at *reterr)
{
	struct mr_secret secret;
	struct mr_conf conf;
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(fds[MAP_mr_conf], &zero, &conf) ||
	    bpf_map_lookup_elem(fds[MAP_mr_secret], &zero, &secret))
		return err_why(reterr, -ESTALE, "the pinned maps cannot be read: %s", strerror(errno));
	if (conf.magic != MR_CONF_MAGIC || conf.layout != k->layout)
		return err_why(reterr, -ESTALE, "pin mr_conf was not written by this version");
	if (conf.fingerprint != k->secret.fingerprint || memcmp(&secret, &k->secret, sizeof(secret)))
		return err_why(reterr, -ESTALE, "the pinned maps were made with another secret");
	if (conf.active >= MR_UNITS || conf.bucket_mask != k->sizes.buckets - 1 || conf.zero ||
	    !is_unit_sound(k, &conf.unit[conf.active], entries))
		return err_why(reterr, -ESTALE, "pin mr_conf holds impossible values");
	return 0;
}

void kern_pins_close(int fds[KERN_MAP_COUNT])
{
	int m;

	for (m = 0; m < KERN_MAP_COUNT; m++) {
		if (fds[m] >= 0)
			close(fds[m]);
		fds[m] = -1;
	}
}

int kern_pins_open(const struct kern *k, int ret[KERN_MAP_COUNT], struct err_at *reterr)
{
	uint32_t entries[KERN_MAP_COUNT] = { 0 };
	char path[128];
	int m, err = 0;

	for (m = 0; m < KERN_MAP_COUNT; m++)
		ret[m] = -1;
	for (m = 0; !err && m < KERN_MAP_COUNT; m++) {
		ret[m] = bpf_obj_get(map_path(k, m, path, sizeof(path)));
		if (ret[m] < 0)
			err = err_why(reterr, -ENOENT, "there is no pin %s: %s", kern_map_names[m], strerror(errno));
		else
			err = check_map(k, m, ret[m], &entries[m], reterr);
	}
	if (!err)
		err = check_contents(k, ret, entries, reterr);
	if (err)
		kern_pins_close(ret);
	return err;
}

/* ---- writing and removing ---- */

int kern_pins_write(const struct kern *k, struct err_at *reterr)
{
	char folder[17], path[128];
	int m;

	folder_name(k->layout, folder);
	if (mkdirat(k->root_fd, folder, 0700) && errno != EEXIST)
		return err_why(reterr, -errno, "no folder for pins can be made: %s", strerror(errno));
	for (m = 0; m < KERN_MAP_COUNT; m++)	/* mr_conf, the first, vouches for the others */
		unlink(map_path(k, m, path, sizeof(path)));
	for (m = KERN_MAP_COUNT; m-- > 0;)
		if (bpf_obj_pin(k->t.fd[m], map_path(k, m, path, sizeof(path))))
			return err_why(reterr, -errno, "map %s cannot be pinned: %s", kern_map_names[m],
				       strerror(errno));
	return 0;
}

int kern_pins_renew(struct kern *k, struct err_at *reterr)
{
	int err = kern_pins_write(k, reterr);

	k->pin_note[0] = 0;
	if (!err)
		return 0;
	kern_pins_remove(k->root_fd, 0, false);
	snprintf(k->pin_note, sizeof(k->pin_note), "%.200s: the next start begins with empty tables", reterr->why);
	return err;
}

static DIR *open_dir_at(int fd, const char *name)
{
	int dir_fd = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = dir_fd < 0 ? NULL : fdopendir(dir_fd);

	if (!d && dir_fd >= 0)
		close(dir_fd);
	return d;
}

static void remove_folder(int root_fd, const char *name)
{
	DIR *d = open_dir_at(root_fd, name);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	unlinkat(root_fd, name, AT_REMOVEDIR);
}

void kern_link_remove(int root_fd, const char *name)
{
	char path[320];
	int fd = bpf_obj_get(kern_pin_path(root_fd, name, path, sizeof(path)));

	if (fd >= 0) {
		bpf_link_detach(fd);
		close(fd);
	}
	unlinkat(root_fd, name, 0);
}

static bool is_link(const char *name)
{
	return !strncmp(name, LINK_PREFIX, strlen(LINK_PREFIX));
}

static bool is_layout(const char *name)
{
	return strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16;
}

void kern_pins_remove(int root_fd, uint64_t keep_layout, bool links)
{
	DIR *d = open_dir_at(root_fd, ".");
	char keep[17];
	struct dirent *e;

	if (!d)
		return;
	folder_name(keep_layout, keep);
	while ((e = readdir(d)))	/* links first would be tidier, but maps live on in the program anyway */
		if (links && is_link(e->d_name))
			kern_link_remove(root_fd, e->d_name);
		else if (is_layout(e->d_name) && (!keep_layout || strcmp(e->d_name, keep)))
			remove_folder(root_fd, e->d_name);
	closedir(d);
}

static bool is_configured(const struct kern *k, const char *ifname)
{
	unsigned i;

	for (i = 0; i < k->ifaces; i++)
		if (!strcmp(k->iface[i].name, ifname))
			return true;
	return false;
}

void kern_links_prune(struct kern *k)
{
	DIR *d = open_dir_at(k->root_fd, ".");
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_link(e->d_name) && !is_configured(k, e->d_name + strlen(LINK_PREFIX)))
			kern_link_remove(k->root_fd, e->d_name);
	closedir(d);
}

/* ---- what somebody else removed ---- */

static bool maps_are_pinned(const struct kern *k)
{
	char folder[17], name[64];
	struct stat st;
	int m;

	folder_name(k->layout, folder);
	for (m = 0; m < KERN_MAP_COUNT; m++) {
		snprintf(name, sizeof(name), "%s/%s", folder, kern_map_names[m]);
		if (fstatat(k->root_fd, name, &st, AT_SYMLINK_NOFOLLOW))
			return false;
	}
	return true;
}

/* The folder that we hold has no name any more: nothing can be made in it. */
static int folder_renew(struct kern *k, struct err_at *reterr)
{
	struct stat st;
	int fd, err;

	if (!fstat(k->root_fd, &st) && st.st_nlink)
		return 0;
	err = kern_lock(k->opts.pin_root, &fd, reterr);
	if (err)
		return err;
	close(k->root_fd);
	k->root_fd = fd;
	return 0;
}

/* Pin again what is missing; @ret_links counts the links. */
static int restore(struct kern *k, bool maps, unsigned *ret_links, struct err_at *reterr)
{
	unsigned n;
	int err;

	err = folder_renew(k, reterr);
	for (n = 0; !err && n < k->ifaces; n++) {
		int did = kern_link_repin(k, &k->iface[n]);

		if (did < 0)
			err = err_why(reterr, did, "the link of %s cannot be pinned: %s", k->iface[n].name, strerror(-did));
		else
			*ret_links += (unsigned)did;
	}
	return err || !maps ? err : kern_pins_renew(k, reterr);
}

int kern_pins_check(struct kern *k, struct err_at *reterr)
{
	unsigned links = 0;
	bool maps;
	int err;

	if (!k->on)
		return 0;
	maps = !maps_are_pinned(k);
	err = restore(k, maps, &links, reterr);
	k->pin_note[0] = 0;
	if (err) {
		snprintf(k->pin_note, sizeof(k->pin_note), "what must outlive the daemon is not all pinned: %.180s",
			 reterr->why);
		return err;
	}
	if (!maps && !links)
		return 0;
	err_why(reterr, 0, "links: %u, maps: %s", links, maps ? "all" : "none");
	return 1;
}

/* ---- whose they are ---- */

static int own_all(int fd, const char *name, uid_t uid, gid_t gid)
{
	DIR *d = open_dir_at(fd, name);
	struct dirent *e;
	int err = d ? 0 : -errno;

	if (d && fchown(dirfd(d), uid, gid))
		err = -errno;
	while (!err && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (is_layout(e->d_name))
			err = own_all(dirfd(d), e->d_name, uid, gid);
		else if (fchownat(dirfd(d), e->d_name, uid, gid, AT_SYMLINK_NOFOLLOW))
			err = -errno;
	}
	if (d)
		closedir(d);
	return err;
}

int kern_pins_own(struct kern *k, uid_t uid, gid_t gid, struct err_at *reterr)
{
	int err = own_all(k->root_fd, ".", uid, gid);

	if (err)
		return err_why(reterr, err, "the pins cannot be given to user %u: %s", (unsigned)uid, strerror(-err));
	return 0;
}
