/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema.h - the tables of state.db, one step after another.
 *
 * Step n brings a database of version n - 1 to version n (PRAGMA
 * user_version), in one transaction.  A step that was released is never edited:
 * a change is another step.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

/* PRAGMA application_id: "Mrst". */
#define SCHEMA_APPLICATION 0x4d727374

static const char *const schema_steps[] = {
	/* 1: objects that millctl and the API made */
	"CREATE TABLE object ("
	"  kind TEXT NOT NULL,"
	"  name TEXT NOT NULL,"
	"  body TEXT NOT NULL,"			/* JSON */
	"  created INTEGER NOT NULL,"		/* seconds since 1970 */
	"  changed INTEGER NOT NULL,"
	"  PRIMARY KEY (kind, name)"
	");"
	"PRAGMA application_id = 0x4d727374;",

	/* 2: pauses, which outlive the daemon */
	"CREATE TABLE pause ("
	"  scope TEXT NOT NULL CHECK (scope IN ('all', 'group', 'client')),"
	"  name TEXT NOT NULL,"			/* '' for all */
	"  until INTEGER NOT NULL,"		/* seconds since 1970; 0: until it is ended */
	"  PRIMARY KEY (scope, name)"
	");",
};

#define SCHEMA_VERSION ((int)(sizeof(schema_steps) / sizeof(schema_steps[0])))

#endif
