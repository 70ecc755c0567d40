/* SPDX-License-Identifier: Apache-2.0
 *
 * What a node in a process of its own needs of Linux: shared memory, waking
 * across processes, a channel that carries descriptors, the child itself. */
#ifndef VOICEGRAPH_ISOLATION_H
#define VOICEGRAPH_ISOLATION_H

#include "realtime.h"
#include <stddef.h>
#include <sys/types.h>

/* Waits while `*word == value`, until vg_nanoseconds() reaches `due` at most;
 * also returns without a reason. On an audio thread this is the one wait that
 * is allowed: what it waits for is a part of this block's work that is done in
 * another process, and `due` is less than a block away. So the sanitizer, which
 * cannot know that, looks away for this call. */
VG_AUDIO_SAFE void vg_shared_wait(const void *word, uint32_t value, uint64_t due);
/* Wakes who waits for `word`, in any process: a system call that waits for
 * nothing, about 0.2 us when nobody sleeps. [audio] */
VG_AUDIO_SAFE void vg_shared_wake(const void *word);
/* Signals a descriptor of vg_event_open from an audio thread, which does it when
 * something went wrong and at no other time. [audio] */
VG_AUDIO_SAFE void vg_event_alarm(int descriptor);

/* Whether every sample is a finite number. [audio] */
VG_AUDIO_SAFE static inline _Bool vg_all_finite(const float *samples, uint32_t count) {
  /* 0 * x is NaN for NaN and infinity, and then so is the sum. */
  float sum[8] = {0};
  uint32_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; lane++) sum[lane] += samples[i + lane] * 0.0f;
  for (; i < count; i++) sum[0] += samples[i] * 0.0f;
  float all = 0;
  for (int lane = 0; lane < 8; lane++) all += sum[lane];
  return all == 0.0f;
}

/* Anonymous memory of a fixed size that another process can map; its descriptor,
 * or -1. Nobody can change its size, so that touching it never raises SIGBUS.
 * [control] */
int vg_shared_memory(const char *name, size_t size);
/* Maps it, with all pages present; NULL: not possible. [control] */
void *vg_shared_map(int descriptor, size_t size);

/* Both ends of a stream between two processes. False: out of descriptors. [control] */
_Bool vg_channel_open(int ends[2]);
/* Sends at least one byte, and `passed` (-1: none) along with the first. Less
 * than `size` when the channel is full, -1 when nobody is there. Waits at most
 * `milliseconds`. [any] */
ssize_t vg_channel_send(int channel, const void *bytes, size_t size, int passed, int milliseconds);
/* Waits for at least one byte; 0 at the end. A descriptor that came along is put
 * in `passed`, which else stays as it is. [any] */
ssize_t vg_channel_receive(int channel, void *bytes, size_t size, int *passed);

/* In the child: whether the process `parent`, with which the kernel ends it, is
 * still there; it may have ended before the kernel was told. [control] */
_Bool vg_isolate_is_kept(pid_t parent);
/* In the child: no more memory than `bytes` (0: any), no core files, first to go
 * when the machine runs out of memory, and no more than `milliseconds` of
 * realtime computing without a pause. [control] */
void vg_isolate_limit(uint64_t bytes, uint32_t milliseconds);
/* A descriptor that becomes readable when the child ends; -1: not possible. [control] */
int vg_isolate_watch(pid_t child);
/* Reaps a child that has ended. False: it has not. `memory` gets the most memory
 * that it ever used, in bytes. [control] */
_Bool vg_isolate_reap(pid_t child, int *status, uint64_t *memory);

#endif
