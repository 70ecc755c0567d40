/* SPDX-License-Identifier: Apache-2.0
 *
 * Weighted sums of neighbouring samples. */
#ifndef VOICEGRAPH_CONVOLUTION_H
#define VOICEGRAPH_CONVOLUTION_H

#include "realtime.h"

/* sums[i] = the sum of weights[k] * samples[i + k] for k from 0 to count - 1, added up in this order: the same to the bit
 * on every processor of an architecture, and however many frames are computed at once. `samples` has frames + count - 1;
 * `sums` is other memory. [audio] */
VG_AUDIO_SAFE void vg_convolve(
    const float *_Nonnull samples, const float *_Nonnull weights, uint32_t count, float *_Nonnull sums, uint32_t frames);

#endif
