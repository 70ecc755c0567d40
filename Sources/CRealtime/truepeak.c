// SPDX-License-Identifier: Apache-2.0
#include "truepeak.h"

#include "convolution.h"

#pragma STDC FP_CONTRACT OFF
// No vector is handed to a function that is not part of its caller.
#pragma clang diagnostic ignored "-Wpsabi"

typedef float eight __attribute__((ext_vector_type(8), aligned(4), may_alias));
typedef float eight_floats __attribute__((ext_vector_type(8)));
typedef int32_t eight_integers __attribute__((ext_vector_type(8)));

#define VG_INLINE static inline __attribute__((always_inline))

VG_INLINE eight_floats at(const float *place) { return *(const eight *)place; }
VG_INLINE eight_floats larger(eight_floats a, eight_floats b) { return a > b ? a : b; }
VG_INLINE eight_floats size(eight_floats a) { return (eight_floats)((eight_integers)a & 0x7fffffff); }

/* The height of the parabola through three points at equal distances, when the one in the middle is the furthest from zero;
 * at most 1.125 times as high as it. Else 0. */
VG_INLINE eight_floats vertex(eight_floats left, eight_floats middle, eight_floats right) {
  eight_integers is_none = (size(left) > size(middle)) | (size(right) > size(middle)) | (left * middle <= 0.0f) |
                           (right * middle <= 0.0f);
  eight_floats bend = left - 2.0f * middle + right, slope = left - right;
  eight_floats height = size(middle - slope * slope / (8.0f * bend));
  height = bend == 0.0f ? size(middle) : height;
  return (eight_floats)((eight_integers)height & ~is_none);
}

/* The points of one frame each; those of the frame before the first come first. */
typedef struct {
  float second[VG_PEAK_FRAMES], third[VG_PEAK_FRAMES + 1], fourth[VG_PEAK_FRAMES + 1];
  float others[7][VG_PEAK_FRAMES];
} points;

VG_INLINE void largest(const points *p, const float *firsts, float *peaks, uint32_t frames) {
#pragma clang loop unroll(disable)
  for (uint32_t frame = 0; frame < frames; frame += 8) {
    eight_floats half = at(p->third + frame), last = at(p->fourth + frame), first = at(firsts + frame);
    eight_floats second = at(p->second + frame), third = at(p->third + 1 + frame), fourth = at(p->fourth + 1 + frame);
    eight_floats peak = larger(at(peaks + frame), larger(size(first), size(second)));
    peak = larger(peak, larger(size(third), size(fourth)));
    peak = larger(peak, larger(vertex(half, last, first), vertex(last, first, second)));
    peak = larger(peak, larger(vertex(first, second, third), vertex(second, third, fourth)));
#pragma clang loop unroll(full)
    for (int other = 0; other < 7; other++) peak = larger(peak, size(at(p->others[other] + frame)));
    *(eight *)(peaks + frame) = peak;
  }
}

static void largest_plain(const points *p, const float *firsts, float *peaks, uint32_t frames) {
  largest(p, firsts, peaks, frames);
}

static void (*chosen)(const points *, const float *, float *, uint32_t) = largest_plain;

#if defined(__x86_64__)
static __attribute__((target("avx2"))) void largest_avx2(
    const points *p, const float *firsts, float *peaks, uint32_t frames) {
  largest(p, firsts, peaks, frames);
}

static __attribute__((constructor)) void choose(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) chosen = largest_avx2;
}
#endif

void vg_true_peaks(
    const vg_peak_filters *filters, const float *samples, float before[2], float *peaks, uint32_t frames) {
  uint32_t rounded = (frames + 7) & ~7u;
  points p;
  p.third[0] = before[0];
  p.fourth[0] = before[1];
  vg_convolve(samples, filters->long_sinc[0], VG_PEAK_LONG, p.second, rounded);
  vg_convolve(samples, filters->long_sinc[1], VG_PEAK_LONG, p.third + 1, rounded);
  vg_convolve(samples, filters->long_sinc[2], VG_PEAK_LONG, p.fourth + 1, rounded);
  const float *around = samples + (VG_PEAK_LONG - VG_PEAK_MIDDLE) / 2;
  for (int phase = 0; phase < 3; phase++) {
    vg_convolve(around, filters->middle_sinc[phase], VG_PEAK_MIDDLE, p.others[phase], rounded);
  }
  const float *near = samples + (VG_PEAK_LONG - VG_PEAK_STANDARD) / 2;
  for (int phase = 0; phase < 4; phase++) {
    vg_convolve(near, filters->standard[phase], VG_PEAK_STANDARD, p.others[3 + phase], rounded);
  }
  chosen(&p, samples + VG_PEAK_LONG / 2 - 1, peaks, rounded);
  before[0] = p.third[frames];
  before[1] = p.fourth[frames];
}
