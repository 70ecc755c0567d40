/* SPDX-License-Identifier: Apache-2.0 */
/* What is used of flite, which is loaded at run time: the first members of two of its structures, as version 2 has
 * them (github.com/festvox/flite, include/cst_voice.h and cst_wave.h). */
#ifndef VG_FLITE_H
#define VG_FLITE_H

#include <stdint.h>

/* A voice. Its features are numbers and texts by their names, such as "duration_stretch". */
typedef struct vg_flite_voice {
    const char *_Nullable name;
    void *_Nullable features;
} vg_flite_voice;

/* What an utterance sounds like: 16 bits, interleaved; it belongs to the utterance. */
typedef struct vg_flite_wave {
    const char *_Nullable type;
    int sample_rate;
    int num_samples;
    int num_channels;
    int16_t *_Nullable samples;
} vg_flite_wave;

#endif
