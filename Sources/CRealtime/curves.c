// SPDX-License-Identifier: Apache-2.0
#include "curves.h"

#pragma STDC FP_CONTRACT OFF
// No vector is handed to a function that is not part of its caller.
#pragma clang diagnostic ignored "-Wpsabi"

typedef float eight __attribute__((ext_vector_type(8), aligned(4), may_alias));
typedef float eight_floats __attribute__((ext_vector_type(8)));
typedef int32_t eight_integers __attribute__((ext_vector_type(8)));
typedef double four __attribute__((ext_vector_type(4), aligned(8), may_alias));
typedef double four_doubles __attribute__((ext_vector_type(4)));
typedef int64_t four_integers __attribute__((ext_vector_type(4)));
typedef float four_floats __attribute__((ext_vector_type(4), aligned(4), may_alias));

#define VG_INLINE static inline __attribute__((always_inline))

/* The logarithm to base 2, of a number that is split into a power of 2 and a factor from the root of 1/2 to that of 2. The
 * polynomial differs from log2(1 + x) / x by at most 2e-8, in the sense of least maximum. */
VG_INLINE eight_floats log2_of(eight_floats value) {
  const int32_t root = 0x3f3504f3;
  eight_integers bits = (eight_integers)value - root;
  eight_integers exponent = bits >> 23;
  eight_floats x = (eight_floats)((bits & 0x7fffff) + root) - 1.0f;
  eight_floats sum = x * 0.125427746f - 0.21028976f;
  sum = sum * x + 0.217365777f;
  sum = sum * x - 0.23852119f;
  sum = sum * x + 0.287658753f;
  sum = sum * x - 0.360721137f;
  sum = sum * x + 0.480922423f;
  sum = sum * x - 0.721347129f;
  sum = sum * x + 1.44269487f;
  return __builtin_convertvector(exponent, eight_floats) + x * sum;
}

VG_INLINE eight_floats larger(eight_floats a, eight_floats b) { return a > b ? a : b; }
VG_INLINE eight_floats smaller(eight_floats a, eight_floats b) { return a < b ? a : b; }

VG_INLINE float reductions(const vg_gain_curve *curve, const float *levels, float *out, uint32_t count) {
  const eight_floats none = {0};
  eight_floats width = none + curve->width, most = none + curve->most, any = none;
#pragma clang loop unroll(disable)
  for (uint32_t place = 0; place < count; place += 8) {
    eight_floats into = curve->octave * log2_of(*(const eight *)(levels + place)) - curve->begin;
    eight_floats bent = smaller(larger(into, none), width);
    eight_floats behind = larger(into - width, none);
    eight_floats found = smaller(curve->slope * (bent * bent * curve->bend + behind), most);
    *(eight *)(out + place) = found;
    any += found;
  }
  float sum = 0;
  for (int lane = 0; lane < 8; lane++) sum += any[lane];
  return sum;
}

/* 2^x is split into a power of 2 and a factor with an exponent from -1/2 to 1/2. The polynomial is 1 at 0, and differs by
 * at most 2e-9. */
VG_INLINE void gains(double full, const double *decibels, float *out, uint32_t count) {
  const double octaves = -0.16609640474436813; /* of a decibel less: log2(10) / 20 */
  const double round = 6755399441055744.0;     /* 1.5 * 2^52: a sum with it has no places behind the point */
#pragma clang loop unroll(disable)
  for (uint32_t place = 0; place < count; place += 4) {
    four_doubles x = *(const four *)(decibels + place) * octaves;
    four_doubles whole = x + round;
    four_doubles rest = x - (whole - round);
    four_doubles sum = rest * 0.00015353354370670287 + 0.0013398871491827654;
    sum = sum * rest + 0.0096184373726460413;
    sum = sum * rest + 0.055503324810645759;
    sum = sum * rest + 0.24022647913677431;
    sum = sum * rest + 0.69314720284778641;
    sum = sum * rest + 1.0;
    four_doubles power = (four_doubles)((four_integers)sum + ((four_integers)whole << 52));
    *(four_floats *)(out + place) = __builtin_convertvector(power * full, four_floats);
  }
}

static float reductions_plain(const vg_gain_curve *curve, const float *levels, float *out, uint32_t count) {
  return reductions(curve, levels, out, count);
}
static void gains_plain(double full, const double *decibels, float *out, uint32_t count) {
  gains(full, decibels, out, count);
}

static float (*chosen_reductions)(const vg_gain_curve *, const float *, float *, uint32_t) = reductions_plain;
static void (*chosen_gains)(double, const double *, float *, uint32_t) = gains_plain;

#if defined(__x86_64__)
#define VG_AVX2 __attribute__((target("avx2")))
static VG_AVX2 float reductions_avx2(const vg_gain_curve *curve, const float *levels, float *out, uint32_t count) {
  return reductions(curve, levels, out, count);
}
static VG_AVX2 void gains_avx2(double full, const double *decibels, float *out, uint32_t count) {
  gains(full, decibels, out, count);
}

static __attribute__((constructor)) void choose(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return;
  chosen_reductions = reductions_avx2;
  chosen_gains = gains_avx2;
}
#endif

float vg_reductions(const vg_gain_curve *curve, const float *levels, float *reductions, uint32_t count) {
  return chosen_reductions(curve, levels, reductions, count);
}
void vg_gains(double full, const double *decibels, float *gains, uint32_t count) {
  chosen_gains(full, decibels, gains, count);
}
