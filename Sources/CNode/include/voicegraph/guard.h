/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a block is fit to be heard. In C, because Swift cannot choose a
 * function's instruction set, and every block of every plugin is looked at. */
#ifndef VOICEGRAPH_GUARD_H
#define VOICEGRAPH_GUARD_H

#include "foreign.h"

/* The largest sample that is: +24 dBFS, 15.85, as bits. Bits of positive floats
 * are in the order of their values, and those of what is infinite or no number
 * come after all others. */
enum { VG_LOUDEST_BITS = 0x417d953a };

/* Whether any sample is infinite, no number, or above +24 dBFS. */
typedef bool (*vg_unfit_function)(const float *VG_NONNULL samples, uint32_t frames);

/* The one for this processor. [control] */
vg_unfit_function VG_NONNULL vg_unfit_choose(void);

/* Calls it. [audio] */
VG_AUDIO static inline bool vg_call_unfit(vg_unfit_function VG_NONNULL function, const float *VG_NONNULL samples, uint32_t frames) {
  return function(samples, frames);
}

/* In every `attention` that is not 0. */
enum { VG_ATTENTION = 0x40000000 };

/* What a guard's step begins with: all that a good block needs. */
typedef struct vg_guard {
  vg_unfit_function VG_NONNULL is_unfit;
  /* Takes every block that is not good, and all while `attention` is not 0. [audio] */
  void (*VG_NONNULL thorough)(void *VG_NONNULL owner, uint32_t frames);
  void *VG_NONNULL owner;
  const uint32_t *VG_NONNULL attention; /* 0, or VG_ATTENTION and more. Atomic, [any] */
  float *const *VG_NONNULL channels;
  const uint8_t *const *VG_NONNULL silent; /* per channel; not 0: it is known to be all zeros */
  float *VG_NONNULL last; /* per channel: the last sample of the last good block */
  size_t count;           /* of channels, at least 1 */
} vg_guard;

/* The step of a guard, for this processor. Its state begins with a vg_guard. [control] */
vg_process_function VG_NONNULL vg_guard_choose(void);

/* A guard and the processor before it, whose outputs are the guard's channels:
 * what is in `foreign` is a copy of what `processor` begins with. */
typedef struct vg_guarded {
  vg_guard guard;
  vg_foreign foreign;
  void *VG_NONNULL processor;
} vg_guarded;

/* The step of both, of code that has a `steady` of vg_foreign_choose: samples
 * are looked at while they are near. Its state is a vg_guarded. [control] */
vg_process_function VG_NONNULL vg_guarded_choose(size_t count);

#endif
