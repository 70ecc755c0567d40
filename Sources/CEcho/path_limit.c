/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

/* Of the reference, 6 dB below its loudest a band is well above what other bands leak into it. */
static const float loud_part = 0.25f, loud_fall = 0.999f;
/* What is left of the loudest sound that was heard, and of one that was played, after as long as the tail. The suppressor
 * spreads what is played over some frames more. */
static const float heard_left = 0.5f, played_left = 0.1f;
enum { FRAMES_OF_SPREAD = 10 };

struct vg_path_limit {
  int frame, bins, band_bins;
  float heard_fall, played_fall;
  float *heard, *loudest; /* by bands: of the microphone within the tail; of the reference ever */
  float *played;          /* by bins: of the reference within the tail */
  float *gain, *most;     /* by bins */
};

vg_path_limit *vg_path_limit_create(int frame, int partitions, double rate) {
  vg_path_limit *limit = calloc(1, sizeof *limit);
  if (!limit) return NULL;
  limit->frame = frame;
  limit->bins = frame + 1;
  limit->band_bins = vg_band_bins(frame, rate);
  limit->heard_fall = powf(heard_left, 1 / (float)partitions);
  limit->played_fall = powf(played_left, 1 / (float)(partitions + FRAMES_OF_SPREAD));
  bool is_open = true;
  float **rows[] = {&limit->heard, &limit->loudest, &limit->played, &limit->gain, &limit->most};
  for (int row = 0; row < 5; row++) is_open = (*rows[row] = calloc((size_t)limit->bins, sizeof(float))) && is_open;
  if (!is_open) {
    vg_path_limit_destroy(limit);
    return NULL;
  }
  vg_path_limit_forget(limit);
  return limit;
}

void vg_path_limit_destroy(vg_path_limit *limit) {
  float *rows[] = {limit->heard, limit->loudest, limit->played, limit->gain, limit->most};
  for (int row = 0; row < 5; row++) free(rows[row]);
  free(limit);
}

void vg_path_limit_forget(vg_path_limit *limit) {
  for (int bin = 0; bin < limit->bins; bin++) {
    limit->gain[bin] = 1;
    limit->loudest[bin] = 0;
  }
}

const float *vg_path_limit_gain(const vg_path_limit *limit) { return limit->gain; }

const float *vg_path_limit_most(const vg_path_limit *limit) { return limit->most; }

static float power(vg_spectrum spectrum, int bin) {
  return spectrum.re[bin] * spectrum.re[bin] + spectrum.im[bin] * spectrum.im[bin];
}

void vg_path_limit_follow(vg_path_limit *limit, vg_spectrum heard, vg_spectrum newest, vg_spectrum oldest) {
  for (int band = 0, first = 0; first < limit->bins; band++, first += limit->band_bins) {
    int end = first + limit->band_bins < limit->bins ? first + limit->band_bins : limit->bins;
    /* Spectra of the reference are of two frames, those of the microphone of one. */
    float now = 0, played = 0;
    for (int bin = first; bin < end; bin++) {
      now += power(heard, bin);
      played += 0.5f * power(oldest, bin);
      float fallen = limit->played[bin] * limit->played_fall, played_now = 0.5f * power(newest, bin);
      limit->played[bin] = played_now > fallen ? played_now : fallen;
    }
    float *held = &limit->heard[band], *loudest = &limit->loudest[band];
    *held = now > *held * limit->heard_fall ? now : *held * limit->heard_fall;
    *loudest = played > *loudest * loud_fall ? played : *loudest * loud_fall;
    /* -80 dBFS in each bin. */
    float least = 1e-8f * (float)limit->frame * (float)(end - first), gain = limit->gain[first];
    if (played > loud_part * *loudest && played > 10 * least && *held + least < gain * played) {
      gain = (*held + least) / played;
    }
    for (int bin = first; bin < end; bin++) {
      limit->gain[bin] = gain;
      limit->most[bin] = gain * limit->played[bin];
    }
  }
}
