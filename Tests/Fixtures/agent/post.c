/* SPDX-License-Identifier: Apache-2.0
 *
 * post LIBRARY URL: posts with libvoicegraph-http.so, and prints what is told of it, a line each. */
#include <dlfcn.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static sem_t ended;

static void told(void *context, int32_t what, long number, const uint8_t *bytes, long count) {
  (void)context;
  const char *names[] = {"sent", "status", "data", "end"};
  printf("%s %ld %.*s\n", names[what], number, what == 3 ? (int)count : 0, (const char *)bytes);
  if (what == 3) sem_post(&ended);
}

int main(int count, char **arguments) {
  typedef void *(*post_function)(const char *, const char *const *, const uint8_t *, long, long, void *,
                                 void (*)(void *, int32_t, long, const uint8_t *, long));
  if (count != 3) return 64;
  void *library = dlopen(arguments[1], RTLD_NOW);
  post_function post = library ? (post_function)dlsym(library, "vg_http_post") : NULL;
  if (!post) {
    printf("%s\n", dlerror());
    return 1;
  }
  sem_init(&ended, 0, 0);
  const char *headers[] = {NULL};
  if (!post(arguments[2], headers, (const uint8_t *)"{}", 2, 1 << 20, NULL, told)) return 2;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  return sem_timedwait(&ended, &end) == 0 ? 0 : 3;
}
