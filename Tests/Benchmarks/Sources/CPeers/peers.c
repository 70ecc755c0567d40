// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <jack/ringbuffer.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct peer_ring {
  _Alignas(128) atomic_size_t written;
  size_t known_consumed;
  _Alignas(128) atomic_size_t consumed;
  size_t known_written;
  _Alignas(128) size_t mask;
  float *data;
};

peer_ring *peer_ring_new(size_t capacity) {
  size_t size = 1;
  while (size < capacity) size *= 2;
  peer_ring *ring = aligned_alloc(128, sizeof *ring);
  memset(ring, 0, sizeof *ring);
  ring->mask = size - 1;
  ring->data = aligned_alloc(128, size * sizeof(float) < 128 ? 128 : size * sizeof(float));
  memset(ring->data, 0, size * sizeof(float));
  return ring;
}

void peer_ring_free(peer_ring *ring) {
  free(ring->data);
  free(ring);
}

static inline bool ring_push(peer_ring *ring, float value) {
  size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
  if (written - ring->known_consumed > ring->mask) {
    ring->known_consumed = atomic_load_explicit(&ring->consumed, memory_order_acquire);
    if (written - ring->known_consumed > ring->mask) return false;
  }
  ring->data[written & ring->mask] = value;
  atomic_store_explicit(&ring->written, written + 1, memory_order_release);
  return true;
}

static inline bool ring_pop(peer_ring *ring, float *value) {
  size_t consumed = atomic_load_explicit(&ring->consumed, memory_order_relaxed);
  if (ring->known_written == consumed) {
    ring->known_written = atomic_load_explicit(&ring->written, memory_order_acquire);
    if (ring->known_written == consumed) return false;
  }
  *value = ring->data[consumed & ring->mask];
  atomic_store_explicit(&ring->consumed, consumed + 1, memory_order_release);
  return true;
}

static inline size_t ring_write(peer_ring *ring, const float *source, size_t count) {
  size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
  size_t space = ring->mask + 1 - (written - ring->known_consumed);
  if (space < count) {
    ring->known_consumed = atomic_load_explicit(&ring->consumed, memory_order_acquire);
    space = ring->mask + 1 - (written - ring->known_consumed);
    if (count > space) count = space;
  }
  size_t start = written & ring->mask;
  size_t first = ring->mask + 1 - start;
  if (first > count) first = count;
  memcpy(ring->data + start, source, first * sizeof(float));
  if (first < count) memcpy(ring->data, source + first, (count - first) * sizeof(float));
  atomic_store_explicit(&ring->written, written + count, memory_order_release);
  return count;
}

static inline size_t ring_read(peer_ring *ring, float *target, size_t count) {
  size_t consumed = atomic_load_explicit(&ring->consumed, memory_order_relaxed);
  size_t ready = ring->known_written - consumed;
  if (ready < count) {
    ring->known_written = atomic_load_explicit(&ring->written, memory_order_acquire);
    ready = ring->known_written - consumed;
    if (count > ready) count = ready;
  }
  size_t start = consumed & ring->mask;
  size_t first = ring->mask + 1 - start;
  if (first > count) first = count;
  memcpy(target, ring->data + start, first * sizeof(float));
  if (first < count) memcpy(target + first, ring->data, (count - first) * sizeof(float));
  atomic_store_explicit(&ring->consumed, consumed + count, memory_order_release);
  return count;
}

void peer_ring_fill(peer_ring *ring, size_t total, size_t chunk, float *block) {
  unsigned spins = 0;
  if (chunk == 1) {
    for (size_t sent = 0; sent < total; sent++) {
      while (!ring_push(ring, 1)) peer_wait(&spins);
    }
    return;
  }
  for (size_t sent = 0; sent < total;) {
    size_t wrote = ring_write(ring, block, chunk);
    if (wrote == 0) peer_wait(&spins);
    sent += wrote;
  }
}

void peer_ring_drain(peer_ring *ring, size_t total, size_t chunk, float *block) {
  unsigned spins = 0;
  if (chunk == 1) {
    for (size_t got = 0; got < total; got++) {
      float value;
      while (!ring_pop(ring, &value)) peer_wait(&spins);
      peer_keep(NULL, value);
    }
    return;
  }
  for (size_t got = 0; got < total;) {
    size_t count = ring_read(ring, block, chunk);
    if (count == 0) peer_wait(&spins);
    else peer_keep(block, block[0]);
    got += count;
  }
}

void peer_ring_alternate(peer_ring *ring, size_t total, size_t chunk, float *block) {
  for (size_t done = 0; done < total; done += chunk) {
    if (chunk == 1) {
      float value = 0;
      ring_push(ring, 1);
      ring_pop(ring, &value);
      peer_keep(NULL, value);
    } else {
      ring_write(ring, block, chunk);
      ring_read(ring, block, chunk);
      peer_keep(block, block[0]);
    }
  }
}

peer_jack_ring *peer_jack_new(size_t capacity) {
  return (peer_jack_ring *)jack_ringbuffer_create(capacity * sizeof(float));
}

void peer_jack_free(peer_jack_ring *ring) { jack_ringbuffer_free((jack_ringbuffer_t *)ring); }

/* jack_ringbuffer counts bytes and keeps one free, so that a float could be torn: its users ask for space first. */
static inline bool jack_put(jack_ringbuffer_t *ring, const float *block, size_t bytes) {
  if (jack_ringbuffer_write_space(ring) < bytes) return false;
  jack_ringbuffer_write(ring, (const char *)block, bytes);
  return true;
}

static inline bool jack_take(jack_ringbuffer_t *ring, float *block, size_t bytes) {
  if (jack_ringbuffer_read_space(ring) < bytes) return false;
  jack_ringbuffer_read(ring, (char *)block, bytes);
  return true;
}

void peer_jack_fill(peer_jack_ring *peer, size_t total, size_t chunk, float *block) {
  jack_ringbuffer_t *ring = (jack_ringbuffer_t *)peer;
  unsigned spins = 0;
  for (size_t sent = 0; sent < total; sent += chunk) {
    while (!jack_put(ring, block, chunk * sizeof(float))) peer_wait(&spins);
  }
}

void peer_jack_drain(peer_jack_ring *peer, size_t total, size_t chunk, float *block) {
  jack_ringbuffer_t *ring = (jack_ringbuffer_t *)peer;
  unsigned spins = 0;
  for (size_t got = 0; got < total; got += chunk) {
    while (!jack_take(ring, block, chunk * sizeof(float))) peer_wait(&spins);
    peer_keep(block, block[0]);
  }
}

void peer_jack_alternate(peer_jack_ring *peer, size_t total, size_t chunk, float *block) {
  jack_ringbuffer_t *ring = (jack_ringbuffer_t *)peer;
  for (size_t done = 0; done < total; done += chunk) {
    jack_put(ring, block, chunk * sizeof(float));
    jack_take(ring, block, chunk * sizeof(float));
    peer_keep(block, block[0]);
  }
}

double peer_thread_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct entry {
  void (*call)(void *state, const void *io, const void *cycle);
  uint64_t *state;
  const void *io;
};

static void count_call(void *state, const void *io, const void *cycle) {
  (void)io;
  (void)cycle;
  ++*(uint64_t *)state;
}

double peer_calls(size_t count, size_t rounds) {
  struct entry *entries = malloc(count * sizeof *entries);
  for (size_t index = 0; index < count; index++) {
    /* A line of the cache for each state, as each node's is. */
    entries[index] = (struct entry){count_call, aligned_alloc(64, 64), NULL};
    *entries[index].state = 0;
  }
  double before = peer_thread_time();
  for (size_t round = 0; round < rounds; round++) {
    for (size_t index = 0; index < count; index++) {
      entries[index].call(entries[index].state, entries[index].io, &round);
    }
  }
  double time = peer_thread_time() - before;
  for (size_t index = 0; index < count; index++) free(entries[index].state);
  free(entries);
  return time;
}
