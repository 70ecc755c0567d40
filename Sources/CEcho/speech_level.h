/* SPDX-License-Identifier: Apache-2.0 */
/* Brings speech to a loudness, slowly, and nothing beyond full scale. */
#ifndef VG_SPEECH_LEVEL_H
#define VG_SPEECH_LEVEL_H

#include <stdbool.h>

typedef struct {
  float level;  /* mean square of speech; 0: none was heard yet */
  float gain;   /* in dB */
  float last;   /* what the last sample was multiplied by */
} vg_speech_level;

/* `target`: root mean square, linear, 0: the gain goes back to 0 dB. `seconds`: of the frame. [audio] */
void vg_speech_level_process(
    vg_speech_level *level, float *samples, int frame, float seconds, float target, float noise, bool is_speech);

#endif
