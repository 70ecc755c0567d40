// SPDX-License-Identifier: Apache-2.0
// Loaded before the program: libraries whose name holds one of the names in $MISSING_LIBRARY, between colons, are not there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *dlopen(const char *path, int flags) {
  static void *(*next)(const char *, int);
  if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  const char *missing = getenv("MISSING_LIBRARY");
  while (path && missing && *missing) {
    char name[64];
    size_t length = strcspn(missing, ":");
    if (length < sizeof name) {
      memcpy(name, missing, length);
      name[length] = 0;
      if (strstr(path, name)) return NULL;
    }
    missing += length + (missing[length] == ':');
  }
  return next(path, flags);
}
