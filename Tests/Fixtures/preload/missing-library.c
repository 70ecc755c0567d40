// SPDX-License-Identifier: Apache-2.0
// Loaded before the program: libraries whose name holds $MISSING_LIBRARY are not there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *dlopen(const char *path, int flags) {
  static void *(*next)(const char *, int);
  if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  const char *missing = getenv("MISSING_LIBRARY");
  if (path && missing && strstr(path, missing)) return NULL;
  return next(path, flags);
}
