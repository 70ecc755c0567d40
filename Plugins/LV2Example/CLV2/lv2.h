/* SPDX-License-Identifier: Apache-2.0
 *
 * LV2's own header, and the two functions of the C library that the plugin
 * needs. */
#ifndef WARMTH_LV2_H
#define WARMTH_LV2_H

#include <lv2/core/lv2.h>
#include <math.h>

/* Promised to neither wait nor allocate, so that `run` may call them. [audio] */
__attribute__((swift_attr("@_noLocks"))) static inline float warmth_exp2(float x) { return exp2f(x); }

/* [audio] */
__attribute__((swift_attr("@_noLocks"))) static inline float warmth_exp(float x) { return expf(x); }

#endif
