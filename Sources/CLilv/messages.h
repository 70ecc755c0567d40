/* SPDX-License-Identifier: Apache-2.0
 *
 * lilv and serd print what they do not like to standard error and offer no other
 * place. While they read, `stderr` is a stream that keeps what the reading thread
 * prints and passes on what all others do. */
#ifndef VOICEGRAPH_COMPLAINTS_H
#define VOICEGRAPH_COMPLAINTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* glibc's fopencookie and what it takes, which its header shows to those only
 * who ask for extensions before anything else is included. */
typedef struct vg_cookie_functions {
  void *_Nullable read;
  ssize_t (*_Nonnull write)(void *_Nonnull cookie, const char *_Nonnull bytes, size_t size);
  void *_Nullable seek;
  void *_Nullable close;
} vg_cookie_functions;
FILE *_Nullable vg_fopencookie(void *_Nonnull cookie, const char *_Nonnull mode, vg_cookie_functions functions)
    __asm__("fopencookie");

/* One for the process; it is never freed, since a thread may still print to it. */
typedef struct vg_lilv_messages {
  FILE *_Nullable stream;
  FILE *_Nullable before;
  pthread_t reader;
  bool active;
  size_t length;
  char text[4096]; /* what comes after that is lost */
} vg_lilv_messages;

static inline ssize_t vg_lilv_messages_write(void *_Nonnull cookie, const char *_Nonnull bytes, size_t size) {
  vg_lilv_messages *c = (vg_lilv_messages *)cookie;
  if (!__atomic_load_n(&c->active, __ATOMIC_ACQUIRE) || !pthread_equal(c->reader, pthread_self()))
    return write(STDERR_FILENO, bytes, size);
  const size_t room = sizeof c->text - c->length;
  const size_t kept = size < room ? size : room;
  memcpy(c->text + c->length, bytes, kept);
  c->length += kept;
  return (ssize_t)size;
}

/* The calling thread begins to read; one at a time. */
static inline void vg_lilv_messages_begin(vg_lilv_messages *_Nonnull c) {
  if (!c->stream) {
    const vg_cookie_functions functions = {NULL, vg_lilv_messages_write, NULL, NULL};
    c->stream = vg_fopencookie(c, "w", functions);
    if (!c->stream) return;
    setvbuf(c->stream, NULL, _IONBF, 0);
  }
  c->length = 0;
  c->reader = pthread_self();
  __atomic_store_n(&c->active, true, __ATOMIC_RELEASE);
  c->before = stderr;
  __atomic_store_n(&stderr, c->stream, __ATOMIC_RELEASE);
}

/* It has read. */
static inline void vg_lilv_messages_end(vg_lilv_messages *_Nonnull c) {
  if (!c->stream) return;
  __atomic_store_n(&stderr, c->before, __ATOMIC_RELEASE);
  __atomic_store_n(&c->active, false, __ATOMIC_RELEASE);
}

#endif
