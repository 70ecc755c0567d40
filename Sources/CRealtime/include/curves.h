/* SPDX-License-Identifier: Apache-2.0
 *
 * Levels, decibels and gains, many at a time. All are the same to the bit on every processor of an architecture, and
 * however many are computed at once. Counts are rounded up to multiples of eight: the memory behind every pointer must
 * be that long. */
#ifndef VOICEGRAPH_CURVES_H
#define VOICEGRAPH_CURVES_H

#include "realtime.h"

/* How many decibels are taken away at a level: none up to `begin`, all of the line behind the bend, between them a part
 * of a parabola. From D. Giannoulis, M. Massberg, J. D. Reiss, "Digital Dynamic Range Compressor Design: A Tutorial and
 * Analysis", JAES 60 (6), 2012, equation 4. */
typedef struct {
  float octave; /* decibels of a level twice as high: 6.02 for magnitudes, 3.01 for squares */
  float begin;  /* in dBFS */
  float width;  /* of the bend, in decibels; 0 is a corner */
  float bend;   /* 1 / (2 width), 0 for a corner */
  float slope;  /* decibels taken away for each one behind the bend */
  float most;   /* decibels at most */
} vg_gain_curve;

/* The decibels to take away at each level, which must be a number from 0 on, and 0 if there is none to take away, else
 * more. The logarithm is right to 1e-5 dB. [audio] */
VG_AUDIO_SAFE float vg_reductions(
    const vg_gain_curve *_Nonnull curve, const float *_Nonnull levels, float *_Nonnull reductions, uint32_t count);

/* full * 10^(-decibels / 20), right to 3e-9 of it; decibels are from 0 to 6000. [audio] */
VG_AUDIO_SAFE void vg_gains(double full, const double *_Nonnull decibels, float *_Nonnull gains, uint32_t count);

#endif
