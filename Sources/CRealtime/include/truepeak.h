/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a signal goes between its samples. */
#ifndef VOICEGRAPH_TRUEPEAK_H
#define VOICEGRAPH_TRUEPEAK_H

#include "realtime.h"

enum {
  VG_PEAK_LONG = 48,     /* weights of a long sinc */
  VG_PEAK_MIDDLE = 24,   /* of a middle one */
  VG_PEAK_STANDARD = 12, /* of the filter of BS.1770-4, annex 2 */
  VG_PEAK_FRAMES = 64,   /* at most as many at a time */
};

/* Weights, oldest sample first. */
typedef struct {
  float long_sinc[3][VG_PEAK_LONG];     /* a quarter, a half and three quarters after a sample */
  float middle_sinc[3][VG_PEAK_MIDDLE]; /* the same */
  float standard[4][VG_PEAK_STANDARD];  /* the phases of the standard's filter */
} vg_peak_filters;

/* Raises peaks[i] to the largest magnitude between the samples samples[i + 23] and samples[i + 24], by all filters and by
 * parabolas through the points of the longest. `before` are the last two points before the first frame's sample, and
 * after it those of the last frame. `samples` has as many as the frames, rounded up to eight, and 47 more; `peaks` are
 * as many as the frames, rounded up. [audio] */
VG_AUDIO_SAFE void vg_true_peaks(
    const vg_peak_filters *_Nonnull filters, const float *_Nonnull samples, float before[_Nonnull 2],
    float *_Nonnull peaks, uint32_t frames);

#endif
