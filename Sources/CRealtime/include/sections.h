/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters of second order, one after another. */
#ifndef VOICEGRAPH_SECTIONS_H
#define VOICEGRAPH_SECTIONS_H

#include "realtime.h"

enum {
  VG_SECTION_LANES = 4,       /* sections that are computed as one */
  VG_SECTION_VALUES = 6 * 4,  /* numbers of four sections: see vg_sections */
  VG_SECTION_STATES = 2 * 4,  /* numbers of the states of four sections */
};

/* Samples through `count` sections, which may stay where they are. What is infinite or no number counts as 0.
 *
 * A section is a state variable filter with the states b and l: for a sample x
 *
 *     r = x - l, y = c0 x + c1 b + c2 l, b := b + a1 b + a2 r, l := l + a2 b + a3 r.
 *
 * `values` has a1, a2, a3, c0, c1 and c2 of the first four sections, each of them four in a row, then those of the next
 * four; `states` has b and l in the same way. Behind the last section they are 0. The same to the bit on every processor of
 * an architecture, and however the samples are cut. [audio] */
VG_AUDIO_SAFE void vg_sections(
    const double *_Nonnull values, double *_Nonnull states, uint32_t count, const float *_Nonnull samples,
    float *_Nonnull out, uint32_t frames);

/* A section with two outputs: y as above with c, and with d. */
typedef struct {
  double a1, a2, a3, c0, c1, c2, d0, d1, d2;
} vg_split_values;

/* Two channels, which may be the same, through a section: `whole` becomes its output with d, and `high` what another such
 * section makes of that with c. What is infinite or no number counts as 0, and what is beyond 1e30 as that. `states` has the
 * states b of the first section of either channel and of the second, then l. The same to the bit as above. [audio] */
VG_AUDIO_SAFE void vg_split(
    const vg_split_values *_Nonnull values, double *_Nonnull states, float *_Nonnull whole, float *_Nonnull high,
    float *_Nonnull other_whole, float *_Nonnull other_high, uint32_t frames);

#endif
