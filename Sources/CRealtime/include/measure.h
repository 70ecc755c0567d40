/* SPDX-License-Identifier: Apache-2.0
 *
 * How loud samples are. */
#ifndef VOICEGRAPH_MEASURE_H
#define VOICEGRAPH_MEASURE_H

#include "realtime.h"

/* Both are NaN if any sample is. */
typedef struct {
  float peak;           /* the largest magnitude, linear */
  float sum_of_squares; /* infinite when samples beyond 1e19 overflow it */
} vg_measured;

/* The same to the bit on every processor of an architecture. [audio] */
VG_AUDIO_SAFE vg_measured vg_measure(const float *samples, uint32_t frames);

#endif
