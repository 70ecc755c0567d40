/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "include/realtime-check.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, DEPTH = 24 };

static _Thread_local int inside; /* between enter and exit */
static _Thread_local int away;   /* what is called is not to be seen */

typedef struct {
  const char *function;
  void *frames[DEPTH];
  int depth;
} seen_call;

static seen_call seen[MOST];
static atomic_int claimed, count;
static int collects;

/* The names of what the realtime sanitizer calls, so that whoever marks audio threads for it marks them for both. */
void __rtsan_realtime_enter(void) { inside++; }
void __rtsan_realtime_exit(void) { inside--; }
void __rtsan_disable(void) { away++; }
void __rtsan_enable(void) { away--; }

static const char *base(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "?";
}

/* Whether an address is in this library or in what every call goes through. */
static int is_between(const Dl_info *info) {
  static Dl_info own;
  const char *file = base(info->dli_fname);
  if (!own.dli_fbase) dladdr(&seen, &own);
  return info->dli_fbase == own.dli_fbase || strncmp(file, "libc.so", 7) == 0 || strncmp(file, "libswift", 8) == 0 ||
         strncmp(file, "libstdc++", 9) == 0;
}

/* Who called it: the first frame that is neither ours nor a runtime's. */
static void describe(const seen_call *call, char *text, size_t size) {
  for (int i = 0; i < call->depth; i++) {
    Dl_info info;
    if (!dladdr((char *)call->frames[i] - 1, &info)) continue;
    const char *file = base(info.dli_fname);
    if (is_between(&info)) continue;
    if (info.dli_sname)
      snprintf(text, size, "%s, called by %s in %s", call->function, info.dli_sname, file);
    else
      snprintf(text, size, "%s, called in %s at +0x%zx", call->function, file,
               (size_t)((char *)call->frames[i] - (char *)info.dli_fbase));
    return;
  }
  snprintf(text, size, "%s", call->function);
}

static void look(const char *function) {
  if (!inside || away) return;
  away++;
  seen_call call = {.function = function};
  call.depth = backtrace(call.frames, DEPTH);
  /* What the same place calls by the same function that calls it is nothing new. */
  int known = 0, there = atomic_load(&count), near = call.depth < 4 ? call.depth : 4;
  for (int i = 0; i < there && !known; i++)
    known = seen[i].depth >= near && memcmp(seen[i].frames, call.frames, (size_t)near * sizeof(void *)) == 0;
  if (!collects) {
    char text[512], line[600];
    describe(&call, text, sizeof text);
    int length = snprintf(line, sizeof line, "voicegraph: on the audio thread: %s\n", text);
    if (write(2, line, (size_t)length) < 0) {}
    abort();
  }
  if (!known) {
    int place = atomic_fetch_add(&claimed, 1);
    if (place < MOST) {
      seen[place] = call;
      /* Published in order; one audio thread is the rule. */
      while (atomic_load(&count) != place) {}
      atomic_store(&count, place + 1);
    }
  }
  away--;
}

int vg_realtime_seen_count(void) { return atomic_load(&count); }

const char *vg_realtime_seen(int index) {
  static char text[512];
  text[0] = 0;
  if (index >= 0 && index < atomic_load(&count)) describe(&seen[index], text, sizeof text);
  return text;
}

__attribute__((constructor)) static void start(void) {
  const char *mode = getenv("VOICEGRAPH_REALTIME");
  collects = mode && strcmp(mode, "collect") == 0;
  /* Its first call loads a library. */
  void *frames[2];
  backtrace(frames, 2);
}

/* ---- what is seen --------------------------------------------------------- */

/* glibc's own names of its allocator: looking for it by dlsym would allocate. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) {
  look("malloc");
  return __libc_malloc(size);
}
void *calloc(size_t items, size_t size) {
  look("calloc");
  return __libc_calloc(items, size);
}
void *realloc(void *memory, size_t size) {
  look("realloc");
  return __libc_realloc(memory, size);
}
void free(void *memory) {
  if (memory) look("free");
  __libc_free(memory);
}
void *memalign(size_t alignment, size_t size) {
  look("memalign");
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  look("aligned_alloc");
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  look("posix_memalign");
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12; /* ENOMEM */
}

#define SEEN(RESULT, NAME, PARAMETERS, ARGUMENTS)             \
  RESULT NAME PARAMETERS {                                    \
    static RESULT(*real) PARAMETERS;                          \
    look(#NAME);                                              \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #NAME);     \
    return real ARGUMENTS;                                    \
  }

SEEN(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
SEEN(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
SEEN(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
SEEN(int, pthread_join, (pthread_t t, void **r), (t, r))
SEEN(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *x), (t, a, f, x))
SEEN(int, sem_wait, (sem_t * s), (s))
SEEN(int, sem_timedwait, (sem_t * s, const struct timespec *t), (s, t))
SEEN(unsigned, sleep, (unsigned s), (s))
SEEN(int, usleep, (useconds_t s), (s))
SEEN(int, nanosleep, (const struct timespec *t, struct timespec *r), (t, r))
SEEN(int, clock_nanosleep, (clockid_t c, int f, const struct timespec *t, struct timespec *r), (c, f, t, r))
SEEN(int, sched_yield, (void), ())
SEEN(ssize_t, read, (int d, void *b, size_t n), (d, b, n))
SEEN(ssize_t, write, (int d, const void *b, size_t n), (d, b, n))
SEEN(ssize_t, recv, (int d, void *b, size_t n, int f), (d, b, n, f))
SEEN(ssize_t, send, (int d, const void *b, size_t n, int f), (d, b, n, f))
SEEN(int, close, (int d), (d))
SEEN(int, fsync, (int d), (d))
SEEN(int, poll, (struct pollfd * f, nfds_t n, int t), (f, n, t))
SEEN(FILE *, fopen, (const char *p, const char *m), (p, m))
SEEN(int, fclose, (FILE * f), (f))
SEEN(size_t, fwrite, (const void *b, size_t s, size_t n, FILE *f), (b, s, n, f))
SEEN(size_t, fread, (void *b, size_t s, size_t n, FILE *f), (b, s, n, f))
SEEN(int, fflush, (FILE * f), (f))
SEEN(int, fputs, (const char *s, FILE *f), (s, f))
SEEN(int, puts, (const char *s), (s))
SEEN(int, putchar, (int c), (c))
SEEN(void *, mmap, (void *a, size_t n, int p, int f, int d, off_t o), (a, n, p, f, d, o))
SEEN(int, munmap, (void *a, size_t n), (a, n))
SEEN(void *, dlopen, (const char *p, int f), (p, f))

int open(const char *path, int flags, ...) {
  static int (*real)(const char *, int, ...);
  va_list rest;
  look("open");
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open");
  return real(path, flags, mode);
}

/* printf and its like end in one of these two. */
int vfprintf(FILE *file, const char *format, va_list rest) {
  static int (*real)(FILE *, const char *, va_list);
  look("vfprintf");
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "vfprintf");
  return real(file, format, rest);
}
int printf(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int written = vfprintf(stdout, format, rest);
  va_end(rest);
  return written;
}
int fprintf(FILE *file, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int written = vfprintf(file, format, rest);
  va_end(rest);
  return written;
}
