// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#pragma STDC FP_CONTRACT OFF

typedef float eight __attribute__((ext_vector_type(8), aligned(4), may_alias));
typedef float four __attribute__((ext_vector_type(4)));
typedef uint32_t eight_bits __attribute__((ext_vector_type(8), aligned(4), may_alias));

/* A comparison passes over a NaN, so the peak alone would hide it. The sum cannot: no sum of squares is NaN unless a sample
 * is, as infinities only add up. So the sum decides at the end. */
static inline __attribute__((always_inline)) vg_measured measure(const float *samples, uint32_t frames) {
  /* Four of each, because one alone would wait for its own last addition. */
  eight sums[4] = {{0}}, peaks[4] = {{0}};
  uint32_t left = frames;
#define VG_TAKE(turn)                                                          \
  do {                                                                         \
    eight value = *(const eight *)(samples + 8 * (turn));                      \
    eight magnitude = (eight)((eight_bits)value & 0x7fffffffu);                \
    sums[turn] += value * value;                                               \
    peaks[turn] = magnitude > peaks[turn] ? magnitude : peaks[turn];           \
  } while (0)
#pragma clang loop unroll(disable)
  for (; left >= 32; left -= 32, samples += 32) {
    VG_TAKE(0);
    VG_TAKE(1);
    VG_TAKE(2);
    VG_TAKE(3);
  }
#pragma clang loop unroll(disable)
  for (; left >= 8; left -= 8, samples += 8) VG_TAKE(0);
#undef VG_TAKE
  eight all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  eight low = peaks[0] > peaks[1] ? peaks[0] : peaks[1], high = peaks[2] > peaks[3] ? peaks[2] : peaks[3];
  eight most = low > high ? low : high;
  float sum = ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
  four half = most.lo > most.hi ? most.lo : most.hi;
  half = half > half.zwxy ? half : half.zwxy;
  float peak = half.x > half.y ? half.x : half.y;
#pragma clang loop unroll(disable) vectorize(disable)
  for (; left != 0; left--, samples++) {
    float magnitude = __builtin_fabsf(*samples);
    sum += *samples * *samples;
    if (magnitude > peak) peak = magnitude;
  }
  if (sum != sum) peak = sum;
  return (vg_measured){peak, sum};
}

static vg_measured measure_plain(const float *samples, uint32_t frames) { return measure(samples, frames); }

static vg_measured (*chosen)(const float *, uint32_t) = measure_plain;

#if defined(__x86_64__)
static __attribute__((target("avx"))) vg_measured measure_avx(const float *samples, uint32_t frames) {
  return measure(samples, frames);
}

static __attribute__((constructor)) void choose(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx")) chosen = measure_avx;
}
#endif

vg_measured vg_measure(const float *samples, uint32_t frames) { return chosen(samples, frames); }
