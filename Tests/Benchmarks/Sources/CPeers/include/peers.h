/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host's parts are measured against, each driven by a loop in its own
 * language: a ring in C11, libjack's ring, and calls through a table in C. */
#ifndef VOICEGRAPH_PEERS_H
#define VOICEGRAPH_PEERS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ring for floats from one thread to one other, as C programs write them:
 * power-of-two memory, indices that only grow, one line of the cache each, with
 * a copy of the other side's beside it. */
typedef struct peer_ring peer_ring;
peer_ring *peer_ring_new(size_t capacity);
void peer_ring_free(peer_ring *ring);

/* One side of a transfer: `total` floats, `chunk` at a time from or to `block`,
 * and again when the ring is full or empty. */
void peer_ring_fill(peer_ring *ring, size_t total, size_t chunk, float *block);
void peer_ring_drain(peer_ring *ring, size_t total, size_t chunk, float *block);
/* Both sides in turn on one thread: the price of the calls alone. */
void peer_ring_alternate(peer_ring *ring, size_t total, size_t chunk, float *block);

/* The same with libjack's ring. */
typedef struct peer_jack_ring peer_jack_ring;
peer_jack_ring *peer_jack_new(size_t capacity);
void peer_jack_free(peer_jack_ring *ring);
void peer_jack_fill(peer_jack_ring *ring, size_t total, size_t chunk, float *block);
void peer_jack_drain(peer_jack_ring *ring, size_t total, size_t chunk, float *block);
void peer_jack_alternate(peer_jack_ring *ring, size_t total, size_t chunk, float *block);

/* What every side does when it finds the ring full or empty: it comes back a
 * few microseconds later, as one that polls does. Without that the two sides
 * would follow each other by one element, and the figure would be the time that
 * a line of the cache takes from one core to the other. */
static inline void peer_wait(unsigned *spins) {
  for (int turn = 0; turn < 64; turn++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
  }
  if (++*spins % 64 == 0) sched_yield();
}

/* Lets the compiler believe that somebody reads `value`, and that what lies
 * behind `memory` has changed: so it can neither leave out what computes the one
 * nor keep what was computed from the other. */
static inline void peer_keep(const void *memory, float value) {
#if defined(__x86_64__)
  __asm__ volatile("" : : "r"(memory), "x"(value) : "memory");
#else
  __asm__ volatile("" : : "r"(memory), "w"(value) : "memory");
#endif
}

/* Nanoseconds for which this thread has had a processor. */
double peer_thread_time(void);

/* Calls `count` functions through a table of function and state, `rounds`
 * times: the least that a host can spend on a node. Returns nanoseconds
 * of processor time. */
double peer_calls(size_t count, size_t rounds);

/* The least that can run LV2 plugins of one input (port 1), one output (port 2)
 * and one control (port 0) in a row, and does nothing else: no zeroed outputs,
 * no parameter ever changes, the library is given by its path. NULL: it does not
 * load. */
typedef struct peer_rack peer_rack;
peer_rack *peer_rack_new(const char *library, size_t count);
/* `blocks` blocks of 128 frames. */
void peer_rack_run(peer_rack *rack, size_t blocks);
/* The same as a JACK client with the ports `in` and `out`, for so many seconds.
 * False: the server does not answer. */
bool peer_rack_play(peer_rack *rack, const char *client, const char *server, unsigned seconds);

#endif
