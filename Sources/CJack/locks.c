/* SPDX-License-Identifier: Apache-2.0 */
/* jackd's libjack ends the thread that the server's notifications come to when a
 * client is closed, wherever that thread is. One that is ended while it notes that
 * another program came or went has the lock of that table for ever, and a few
 * lines on the one who closes the client waits for that lock (jackd 1.9.21). So
 * the functions by which libjack takes and gives a lock are replaced: in between,
 * its end waits. */
#include "locks.h"

#include <pthread.h>

#include "replace.h"

/* Locks that this thread has, and whether it might have been ended before the first. */
static _Thread_local int held, before;

static void enter(void) {
  if (held++ == 0) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
}

static void leave(void) {
  /* One that was taken before the functions were replaced is not counted. */
  if (held > 0 && --held == 0) pthread_setcancelstate(before, NULL);
}

static int lock(pthread_mutex_t *mutex) {
  enter();
  int failed = pthread_mutex_lock(mutex);
  if (failed) leave();
  return failed;
}

static int try_lock(pthread_mutex_t *mutex) {
  enter();
  int failed = pthread_mutex_trylock(mutex);
  if (failed) leave();
  return failed;
}

static int unlock(pthread_mutex_t *mutex) {
  int failed = pthread_mutex_unlock(mutex);
  if (!failed) leave();
  return failed;
}

_Bool vg_jack_keep_locks(void *handle) {
  _Bool gives = vg_replace(handle, "pthread_mutex_unlock", (void (*)(void))unlock);
  _Bool takes = vg_replace(handle, "pthread_mutex_lock", (void (*)(void))lock);
  _Bool tries = vg_replace(handle, "pthread_mutex_trylock", (void (*)(void))try_lock);
  return gives && (takes || tries);
}
