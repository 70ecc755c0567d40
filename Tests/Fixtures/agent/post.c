/* SPDX-License-Identifier: Apache-2.0
 *
 * post URL: posts two bytes, and prints what happens, a line each. Built with Sources/CHTTP. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#include "http.h"

static void *find(const char *name) { return dlsym(RTLD_DEFAULT, name); }

int main(int count, char **arguments) {
  if (count != 2) return 64;
  char error[VG_HTTP_ERROR];
  if (!dlopen("libcurl.so.4", RTLD_NOW | RTLD_GLOBAL)) {
    printf("%s\n", dlerror());
    return 1;
  }
  vg_http *http = vg_http_open(find, error);
  if (!http) {
    printf("%s\n", error);
    return 1;
  }
  const char *headers[] = {NULL};
  vg_transfer *transfer = vg_http_begin(http, arguments[1], headers, "{}", 2);
  if (!transfer) return 2;
  const char *names[] = {"", "sent", "status", "data", "end"};
  time_t end = time(NULL) + 60;
  vg_transfer_event event = {VG_TRANSFER_NOTHING, 0, "", 0};
  while (event.kind != VG_TRANSFER_END && time(NULL) < end) {
    event = vg_transfer_next(transfer, 100);
    if (event.kind) printf("%s %ld %.*s\n", names[event.kind], event.number, (int)event.length, event.text);
  }
  vg_transfer_end(transfer);
  vg_http_close(http);
  return event.kind == VG_TRANSFER_END ? 0 : 3;
}
