/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite for Swift, which cannot see the macro that asks it to copy a text. */
#ifndef VOICEGRAPH_SQLITE_H
#define VOICEGRAPH_SQLITE_H

#include <sqlite3.h>

static inline int vg_sqlite_bind_text(
    sqlite3_stmt *_Nonnull statement, int index, const char *_Nonnull text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(statement, index, text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

#endif
