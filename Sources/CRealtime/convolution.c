// SPDX-License-Identifier: Apache-2.0
#include "convolution.h"

#pragma STDC FP_CONTRACT OFF

typedef float eight __attribute__((ext_vector_type(8), aligned(4), may_alias));
typedef float eight_floats __attribute__((ext_vector_type(8)));

static inline __attribute__((always_inline)) void convolve(
    const float *samples, const float *weights, uint32_t count, float *sums, uint32_t frames) {
  uint32_t done = 0;
  /* Four vectors at once, so that none waits for its own last addition. */
#pragma clang loop unroll(disable)
  for (; done + 32 <= frames; done += 32) {
    eight_floats a = {0}, b = {0}, c = {0}, d = {0};
    const float *place = samples + done;
#pragma clang loop unroll(disable)
    for (uint32_t k = 0; k < count; k++, place++) {
      eight_floats weight = weights[k];
      a += *(const eight *)place * weight;
      b += *(const eight *)(place + 8) * weight;
      c += *(const eight *)(place + 16) * weight;
      d += *(const eight *)(place + 24) * weight;
    }
    *(eight *)(sums + done) = a;
    *(eight *)(sums + done + 8) = b;
    *(eight *)(sums + done + 16) = c;
    *(eight *)(sums + done + 24) = d;
  }
#pragma clang loop unroll(disable)
  for (; done + 8 <= frames; done += 8) {
    eight_floats a = {0};
#pragma clang loop unroll(disable)
    for (uint32_t k = 0; k < count; k++) a += *(const eight *)(samples + done + k) * weights[k];
    *(eight *)(sums + done) = a;
  }
#pragma clang loop unroll(disable) vectorize(disable)
  for (; done < frames; done++) {
    float a = 0;
#pragma clang loop unroll(disable) vectorize(disable)
    for (uint32_t k = 0; k < count; k++) a += samples[done + k] * weights[k];
    sums[done] = a;
  }
}

static void convolve_plain(
    const float *samples, const float *weights, uint32_t count, float *sums, uint32_t frames) {
  convolve(samples, weights, count, sums, frames);
}

static void (*chosen)(const float *, const float *, uint32_t, float *, uint32_t) = convolve_plain;

#if defined(__x86_64__)
static __attribute__((target("avx"))) void convolve_avx(
    const float *samples, const float *weights, uint32_t count, float *sums, uint32_t frames) {
  convolve(samples, weights, count, sums, frames);
}

static __attribute__((constructor)) void choose(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx")) chosen = convolve_avx;
}
#endif

void vg_convolve(const float *samples, const float *weights, uint32_t count, float *sums, uint32_t frames) {
  chosen(samples, weights, count, sums, frames);
}
