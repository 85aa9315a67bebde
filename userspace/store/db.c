/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * db.c - opens a database: write-ahead log, full syncing, schema by steps.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "store/db.h"

#define BUSY_MS   2000			/* another process (a backup) may hold it that long */
#define ASIDE_MAX 9

static int code_to_err(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_TOOBIG:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		return -EINVAL;
	case SQLITE_ERROR:
		return -EPROTO;		/* a statement that the schema does not allow */
	default:
		return -EIO;
	}
}

int db_fail(sqlite3 *db, struct err_at *reterr)
{
	int os = sqlite3_system_errno(db), err = code_to_err(sqlite3_extended_errcode(db));

	return err_why(reterr, err, "%s: %s%s%s", sqlite3_db_filename(db, "main") ? sqlite3_db_filename(db, "main") : "",
		       sqlite3_errmsg(db), os && err != -EBADMSG ? ": " : "", os && err != -EBADMSG ? strerror(os) : "");
}

int db_run(sqlite3 *db, const char *sql, struct err_at *reterr)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(db, reterr);
}

/* The number that a statement gives. */
static int ask_number(sqlite3 *db, const char *sql, int *ret, struct err_at *reterr)
{
	sqlite3_stmt *q = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
		err = db_fail(db, reterr);
	else
		*ret = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return err;
}

static int check_pages(sqlite3 *db, const char *path, struct err_at *reterr)
{
	sqlite3_stmt *q = NULL;
	const char *said;
	int err = 0;

	if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW) {
		err = db_fail(db, reterr);
	} else {
		said = (const char *)sqlite3_column_text(q, 0);
		if (!said || strcmp(said, "ok"))
			err = err_why(reterr, -EBADMSG, "%s: the database is damaged: %.200s", path, said ? said : "");
	}
	sqlite3_finalize(q);
	return err;
}

/* What SQLite takes for a fault of ours is damage where our statements are known to be right. */
static int damage_if_odd(int err)
{
	return err == -EPROTO ? -EBADMSG : err;
}

/* Pages may be whole and what they say of the tables not. */
static int check_statements(sqlite3 *db, const struct db_opts *o, struct err_at *reterr)
{
	sqlite3_stmt *q = NULL;
	unsigned i;
	int err = 0;

	for (i = 0; o->statements[i] && !err; i++) {
		if (sqlite3_prepare_v2(db, o->statements[i], -1, &q, NULL) != SQLITE_OK)
			err = db_fail(db, reterr);
		sqlite3_finalize(q);
		q = NULL;
	}
	return damage_if_odd(err);
}

/* One step of the schema and the number of its version: both or none. */
static int take_step(sqlite3 *db, const struct db_opts *o, int version, struct err_at *reterr)
{
	char sql[64];
	int err = db_run(db, "BEGIN IMMEDIATE", reterr);

	if (err)
		return err;
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", version);
	err = db_run(db, o->steps[version - 1], reterr);
	if (!err)
		err = db_run(db, sql, reterr);
	if (!err)
		err = db_run(db, "COMMIT", reterr);
	if (err)
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* What a database must be before anything in it is changed. */
static int look_at(sqlite3 *db, const struct db_opts *o, int *ret_version, struct err_at *reterr)
{
	int application = 0, tables = 0, err;

	err = ask_number(db, "PRAGMA user_version", ret_version, reterr);
	if (!err)
		err = ask_number(db, "PRAGMA application_id", &application, reterr);
	if (!err)
		err = ask_number(db, "SELECT count(*) FROM sqlite_schema", &tables, reterr);
	if (err)
		return err;
	if (tables && application != o->application)
		return err_why(reterr, -EPROTONOSUPPORT, "%s: this is a database of another program; move it away", o->path);
	if (*ret_version > o->version)
		return err_why(reterr, -EPROTONOSUPPORT, "%s: a newer millraced wrote it (schema %d, this one knows %d): "
			       "use that version, or move the file away to begin without it", o->path, *ret_version,
			       o->version);
	return *ret_version < 0 ? err_why(reterr, -EBADMSG, "%s: the schema's version is %d", o->path, *ret_version) : 0;
}

static int prepare(sqlite3 *db, const struct db_opts *o, bool read_only, struct err_at *reterr)
{
	int version = 0, err;

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_MS);
	err = look_at(db, o, &version, reterr);
	if (!err)
		err = check_pages(db, o->path, reterr);
	err = damage_if_odd(err);
	if (!err && read_only && version < o->version)
		err = err_why(reterr, -EROFS, "%s: it cannot be written, and its schema is old", o->path);
	if (err || read_only)
		return err ? err : check_statements(db, o, reterr);
	err = db_run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY", reterr);
	for (; !err && version < o->version; version++)
		err = take_step(db, o, version + 1, reterr);
	return err ? err : check_statements(db, o, reterr);
}

/* The log that SQLite keeps beside the file must have its owner too: it takes that of the file. */
static int make_file(const struct db_opts *o, struct err_at *reterr)
{
	int fd = open(o->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), err = 0;
	struct stat st;

	if (fd < 0)
		return err_why(reterr, -errno, "%s: cannot be opened: %s", o->path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = err_why(reterr, -EPROTONOSUPPORT, "%s: this is not a file", o->path);
	else if (geteuid() == 0 && o->uid != (uid_t)-1 && fchown(fd, o->uid, o->gid))
		err = err_why(reterr, -errno, "%s: cannot be given to the service's user: %s", o->path, strerror(errno));
	close(fd);
	return err;
}

static int open_as(const struct db_opts *o, const char *uri, int flags, sqlite3 **ret, struct err_at *reterr)
{
	sqlite3 *db = NULL;
	int err;

	if (sqlite3_open_v2(uri, &db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		err = db ? db_fail(db, reterr) : -ENOMEM;
	else
		err = prepare(db, o, !(flags & SQLITE_OPEN_READWRITE), reterr);
	if (err)
		sqlite3_close(db);
	else
		*ret = db;
	return err;
}

/* "file:PATH?immutable=1" with what an URI may not hold written as %XX. */
static int immutable_uri(const char *path, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "file:");

	for (; *path && n + 4 < size; path++)
		n += (size_t)snprintf(buf + n, size - n, strchr("%?#", *path) ? "%%%02X" : "%c", (unsigned char)*path);
	return *path || (size_t)snprintf(buf + n, size - n, "?immutable=1") >= size - n ? -ENAMETOOLONG : 0;
}

/*
 * A file system that takes nothing.  SQLite cannot open a write-ahead log
 * there; without one (it went when the daemon stopped) the file alone is whole.
 */
static int open_to_read(const struct db_opts *o, sqlite3 **ret, struct err_at *reterr)
{
	char uri[8192], log[4200];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", o->path);
	if (stat(log, &st) == 0 && st.st_size > 0)
		return open_as(o, o->path, SQLITE_OPEN_READONLY, ret, reterr);
	if (immutable_uri(o->path, uri, sizeof(uri)))
		return err_why(reterr, -ENAMETOOLONG, "%s: the path is too long", o->path);
	return open_as(o, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, ret, reterr);
}

int db_open(const struct db_opts *o, sqlite3 **ret, char *ret_read_only, struct err_at *reterr)
{
	struct err_at why = { 0 };
	struct stat st;
	int err = make_file(o, &why);

	*ret_read_only = '\0';
	if (!err)
		err = open_as(o, o->path, SQLITE_OPEN_READWRITE, ret, &why);
	if ((err == -EROFS || err == -EACCES || err == -EPERM || err == -ENOSPC) && stat(o->path, &st) == 0 && st.st_size > 0) {
		snprintf(ret_read_only, DB_WHY_MAX, "%.*s", DB_WHY_MAX - 1, why.why);
		err = open_to_read(o, ret, &why);
	}
	return err ? err_why(reterr, err, "%s", why.why) : 0;
}

/* ---- damage ---- */

static void aside_name(const char *path, unsigned n, char *buf, size_t size)
{
	if (n == 1)
		snprintf(buf, size, "%s.damaged", path);
	else
		snprintf(buf, size, "%s.damaged.%u", path, n);
}

bool db_aside(const char *path, char *buf, size_t size)
{
	unsigned n;

	for (n = ASIDE_MAX; n; n--) {
		aside_name(path, n, buf, size);
		if (access(buf, F_OK) == 0)
			return true;
	}
	return false;
}

static int move_part(const char *path, const char *to, const char *part, struct err_at *reterr)
{
	char from[4200], there[4200];

	snprintf(from, sizeof(from), "%s%s", path, part);
	snprintf(there, sizeof(there), "%s%s", to, part);
	if (rename(from, there) == 0 || errno == ENOENT)
		return 0;
	return err_why(reterr, -errno, "%s: damaged, and cannot be moved aside: %s", from, strerror(errno));
}

int db_set_aside(const char *path, struct err_at *reterr)
{
	char to[4096];
	unsigned n;
	int err;

	for (n = 1; n <= ASIDE_MAX; n++) {
		aside_name(path, n, to, sizeof(to));
		if (access(to, F_OK))
			break;
	}
	if (n > ASIDE_MAX)
		return err_why(reterr, -EEXIST, "%s: damaged, and so were %u before it, which still lie there: remove some",
			       path, ASIDE_MAX);
	/* The log first: beside a new file it would be taken for the new one's. */
	err = move_part(path, to, "-wal", reterr);
	if (!err)
		err = move_part(path, to, "-shm", reterr);
	if (!err)
		err = move_part(path, to, "", reterr);
	file_sync_folder(path);
	return err;
}
