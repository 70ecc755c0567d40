/* SPDX-License-Identifier: Apache-2.0
 *
 * C functions that an audio thread may call, wrapped so that the Swift
 * compiler knows it: bounded time, no allocation, no lock. */
#ifndef VOICEGRAPH_AUDIO_H
#define VOICEGRAPH_AUDIO_H

#include "node.h"
#include <math.h>

VG_AUDIO static inline float vg_pow(float x, float y) { return powf(x, y); }
VG_AUDIO static inline float vg_exp(float x) { return expf(x); }
VG_AUDIO static inline float vg_log10(float x) { return log10f(x); }
VG_AUDIO static inline float vg_sqrt(float x) { return sqrtf(x); }
VG_AUDIO static inline float vg_sin(float x) { return sinf(x); }
VG_AUDIO static inline float vg_cos(float x) { return cosf(x); }
VG_AUDIO static inline float vg_floor(float x) { return floorf(x); }
VG_AUDIO static inline double vg_sin64(double x) { return sin(x); }
VG_AUDIO static inline double vg_cos64(double x) { return cos(x); }
VG_AUDIO static inline double vg_pow64(double x, double y) { return pow(x, y); }
VG_AUDIO static inline double vg_exp64(double x) { return exp(x); }
VG_AUDIO static inline double vg_floor64(double x) { return floor(x); }

/* 10^(dB/20) */
VG_AUDIO static inline float vg_linear(float decibels) { return powf(10.0f, decibels * 0.05f); }

VG_AUDIO static inline void vg_zero(float *VG_NONNULL out, uint32_t frames) { memset(out, 0, frames * sizeof(float)); }
/* The two may be the same buffer. */
VG_AUDIO static inline void vg_copy(float *VG_NONNULL out, const float *VG_NONNULL in, uint32_t frames) {
  if (out != in) memcpy(out, in, frames * sizeof(float));
}

#endif
