/* SPDX-License-Identifier: Apache-2.0 */
#include "speech_level.h"

#include <math.h>

/* dB that it makes louder or quieter at most, and dB a second. */
static const float most = 24, rise = 6, fall = 20;
/* Seconds over which speech is measured. */
static const float span = 1;
static const float full_scale = 0.98f;

void vg_speech_level_process(
    vg_speech_level *level, float *samples, int frame, float seconds, float target, float noise, bool is_speech) {
  float power = 0, peak = 0;
  for (int place = 0; place < frame; place++) {
    power += samples[place] * samples[place];
    peak = fabsf(samples[place]) > peak ? fabsf(samples[place]) : peak;
  }
  power /= (float)frame;
  /* 10 dB above the noise, and above -60 dBFS. */
  if (target > 0 && is_speech && power > 10 * noise && power > 1e-6f) {
    if (level->level == 0) level->level = power;
    level->level += (power - level->level) * (seconds < span ? seconds / span : 1);
  }
  float wanted = 0;
  if (target > 0 && level->level > 0) wanted = 10 * log10f(target * target / level->level);
  wanted = wanted > most ? most : wanted < -most ? -most : wanted;
  float step = wanted - level->gain;
  step = step > rise * seconds ? rise * seconds : step < -fall * seconds ? -fall * seconds : step;
  level->gain += step;
  float begin = level->last, end = powf(10, level->gain / 20);
  if (target == 0 && begin == 1 && level->gain == 0) return;
  /* What would go beyond full scale holds it down at once. */
  if (peak * end > full_scale) {
    end = full_scale / peak;
    level->gain = 20 * log10f(end);
  }
  if (peak * begin > full_scale) begin = full_scale / peak;
  for (int place = 0; place < frame; place++) {
    samples[place] *= begin + (end - begin) * (float)(place + 1) / (float)frame;
  }
  level->last = end;
}
