// SPDX-License-Identifier: Apache-2.0
#include "sections.h"

#pragma STDC FP_CONTRACT OFF
// No vector is handed to a function that is not part of its caller.
#pragma clang diagnostic ignored "-Wpsabi"

typedef double four __attribute__((ext_vector_type(4)));
typedef double four_apart __attribute__((ext_vector_type(4), aligned(8), may_alias));
typedef int64_t four_integers __attribute__((ext_vector_type(4)));

#define VG_INLINE static inline __attribute__((always_inline))

VG_INLINE double number(float sample) { return __builtin_fabsf(sample) < __builtin_inff() ? (double)sample : 0.0; }

/* Within bounds, so that nothing that is computed from it is infinite as a float. */
VG_INLINE double bounded(float sample) {
  double value = number(sample);
  return value > 1e30 ? 1e30 : value < -1e30 ? -1e30 : value;
}

VG_INLINE four at(const double *place) { return *(const four_apart *)place; }
VG_INLINE void put(double *place, four value) { *(four_apart *)place = value; }

/* One section alone. */
VG_INLINE void single(const double *values, double *states, const float *samples, float *out, uint32_t frames) {
  const double a1 = values[0], a2 = values[4], a3 = values[8], c0 = values[12], c1 = values[16], c2 = values[20];
  double band = states[0], low = states[4];
#pragma clang loop unroll(disable) vectorize(disable)
  for (uint32_t frame = 0; frame < frames; frame++) {
    double x = number(samples[frame]), rest = x - low;
    out[frame] = (float)((c0 * x + c1 * band) + c2 * low);
    double next = (band + a1 * band) + a2 * rest;
    low = (low + a2 * band) + a3 * rest;
    band = next;
  }
  states[0] = band;
  states[4] = low;
}

/* Every section is a frame behind the one before it, so that all compute at once. At the first and the last frames some have
 * no sample: their states stay as they are. */
VG_INLINE void chain(
    const double *values, double *states, uint32_t count, const float *samples, float *out, uint32_t frames,
    const uint32_t groups) {
  four band[groups], low[groups], given[groups];
  for (uint32_t group = 0; group < groups; group++) {
    band[group] = at(states + group * VG_SECTION_STATES);
    low[group] = at(states + group * VG_SECTION_STATES + VG_SECTION_LANES);
    given[group] = (four){0};
  }
  const uint32_t behind = count - 1, steps = frames + behind;
#pragma clang loop unroll(disable)
  for (uint32_t step = 0; step < steps; step++) {
    /* Section s has the sample of frame step - s. */
    const int partial = step < behind || step >= frames;
    double entering = step < frames ? number(samples[step]) : 0.0;
    for (uint32_t group = 0; group < groups; group++) {
      const double *value = values + group * VG_SECTION_VALUES;
      four x = __builtin_shufflevector(given[group], given[group], 3, 0, 1, 2);
      double leaving = x.x;
      x.x = entering;
      entering = leaving;
      four b = band[group], l = low[group], rest = x - l;
      given[group] = (at(value + 12) * x + at(value + 16) * b) + at(value + 20) * l;
      four next_band = (b + at(value) * b) + at(value + 4) * rest;
      four next_low = (l + at(value + 4) * b) + at(value + 8) * rest;
      if (__builtin_expect(partial, 0)) {
        const int64_t frame = (int64_t)step - group * VG_SECTION_LANES;
        four_integers frames_of = frame - (four_integers){0, 1, 2, 3};
        four_integers has = (frames_of >= 0) & (frames_of < (int64_t)frames);
        next_band = (four)(((four_integers)next_band & has) | ((four_integers)b & ~has));
        next_low = (four)(((four_integers)next_low & has) | ((four_integers)l & ~has));
      }
      band[group] = next_band;
      low[group] = next_low;
    }
    if (step >= behind) out[step - behind] = (float)given[groups - 1][behind % VG_SECTION_LANES];
  }
  for (uint32_t group = 0; group < groups; group++) {
    put(states + group * VG_SECTION_STATES, band[group]);
    put(states + group * VG_SECTION_STATES + VG_SECTION_LANES, low[group]);
  }
}

VG_INLINE void sections(
    const double *values, double *states, uint32_t count, const float *samples, float *out, uint32_t frames) {
  const uint32_t groups = (count + VG_SECTION_LANES - 1) / VG_SECTION_LANES;
  if (count == 1) return single(values, states, samples, out, frames);
  /* As many as most chains have stay in registers. */
  if (groups == 1) return chain(values, states, count, samples, out, frames, 1);
  if (groups == 2) return chain(values, states, count, samples, out, frames, 2);
  if (groups == 3) return chain(values, states, count, samples, out, frames, 3);
  chain(values, states, count, samples, out, frames, groups);
}

/* The first two lanes are what both halves have in common, of either channel; the others, a frame behind, the upper half. So
 * these have no sample at the first step, and those none at the last. */
VG_INLINE void split(
    const vg_split_values *values, double *states, float *const whole[2], float *const high[2], uint32_t frames) {
  const four a1 = values->a1, a2 = values->a2, a3 = values->a3, c0 = values->c0, c1 = values->c1, c2 = values->c2;
  const four d0 = values->d0, d1 = values->d1, d2 = values->d2;
  float *one = whole[0], *two = whole[1], *high_one = high[0], *high_two = high[1];
  four band = at(states), low = at(states + VG_SECTION_LANES), above = {0};
#define VG_STEP(enters, leaves)                                                      \
  do {                                                                               \
    four x = __builtin_shufflevector(above, above, 2, 3, 0, 1);                      \
    if (enters) x = (four){bounded(one[step]), bounded(two[step]), x.z, x.w};        \
    four rest = x - low;                                                             \
    four all = (d0 * x + d1 * band) + d2 * low;                                      \
    above = (c0 * x + c1 * band) + c2 * low;                                         \
    four next_band = (band + a1 * band) + a2 * rest;                                 \
    four next_low = (low + a2 * band) + a3 * rest;                                   \
    if (enters) one[step] = (float)all.x;                                            \
    if (enters) two[step] = (float)all.y;                                            \
    if (leaves) high_one[step - 1] = (float)above.z;                                 \
    if (leaves) high_two[step - 1] = (float)above.w;                                 \
    if (!leaves) next_band.zw = band.zw, next_low.zw = low.zw;                       \
    if (!enters) next_band.xy = band.xy, next_low.xy = low.xy;                       \
    band = next_band;                                                                \
    low = next_low;                                                                  \
  } while (0)
  if (frames == 0) return;
  uint32_t step = 0;
  VG_STEP(1, 0);
#pragma clang loop unroll(disable)
  for (step = 1; step < frames; step++) VG_STEP(1, 1);
  VG_STEP(0, 1);
#undef VG_STEP
  put(states, band);
  put(states + VG_SECTION_LANES, low);
}

static void sections_plain(
    const double *values, double *states, uint32_t count, const float *samples, float *out, uint32_t frames) {
  sections(values, states, count, samples, out, frames);
}

static void split_plain(
    const vg_split_values *values, double *states, float *const whole[2], float *const high[2], uint32_t frames) {
  split(values, states, whole, high, frames);
}

static void (*chosen)(const double *, double *, uint32_t, const float *, float *, uint32_t) = sections_plain;
static void (*chosen_split)(const vg_split_values *, double *, float *const[2], float *const[2], uint32_t) = split_plain;

#if defined(__x86_64__)
static __attribute__((target("avx2"))) void sections_avx2(
    const double *values, double *states, uint32_t count, const float *samples, float *out, uint32_t frames) {
  sections(values, states, count, samples, out, frames);
}

static __attribute__((target("avx2"))) void split_avx2(
    const vg_split_values *values, double *states, float *const whole[2], float *const high[2], uint32_t frames) {
  split(values, states, whole, high, frames);
}

static __attribute__((constructor)) void choose(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return;
  chosen = sections_avx2;
  chosen_split = split_avx2;
}
#endif

void vg_sections(
    const double *values, double *states, uint32_t count, const float *samples, float *out, uint32_t frames) {
  chosen(values, states, count, samples, out, frames);
}

void vg_split(
    const vg_split_values *values, double *states, float *whole, float *high, float *other_whole, float *other_high,
    uint32_t frames) {
  chosen_split(values, states, (float *const[2]){whole, other_whole}, (float *const[2]){high, other_high}, frames);
}
