/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a block is fit to be heard. In C, because Swift cannot choose a
 * function's instruction set, and every block of every plugin is looked at. */
#ifndef VOICEGRAPH_GUARD_H
#define VOICEGRAPH_GUARD_H

#include "audio.h"

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

#endif
