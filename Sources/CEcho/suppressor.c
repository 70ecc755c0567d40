/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is left of the echo is taken for so many times what is known of it: as powers. A bin that is taken away too much is
 * one of many; one that is not is heard. */
static const float over_doubt = 2, over_leak = 6, over_most = 8;
/* How slowly the power of a bin follows, and its gain down and up. */
static const float smooth = 0.6f, fall = 0.2f, rise = 0.5f;
/* How fast the part of the echo that a filter leaves in a band is followed, in dB a frame. */
static const float leak_step = 0.1f;
/* How slowly the agreement follows: a third of a second. */
static const float agreement_smooth = 0.97f;
/* An echo tells something of the way where it is so many times the floor of the noise, and the rest so many times the echo
 * at most: beyond that the agreement is chance. */
static const float over_noise = 4, most_other = 8;

/* The filter doubts more than there is. How much of its doubt is in the rest is followed in dB, in each band: at least this,
 * by this part of the way down, and by so much up in a frame, so that it stays near the least that was found. */
static const float least_usual = -17, usual_fall = 0.06f, usual_rise = 0.03f;
/* While the way is new, the rest is echo unless it is louder than what is doubted by more than this, in dB, for as long as a
 * syllable: then somebody speaks, where a sound that the filter has not met is shorter. For each dB beyond it the certainty
 * falls by so many, and less is taken for what the filter leaves, by so many dB at most. It is followed by these parts of the
 * way up and down. */
static const float over_usual = 7, speaker_slope = 2, speaker_leak = 12, speaker_rise = 0.025f, speaker_fall = 0.05f;

typedef struct {
  float usual, known;  /* of what the filter doubts that is in the rest, in dB and as a factor */
  float rest, doubt;   /* powers, smoothed */
  float leak, leaks;   /* of the echo in the rest, in dB and as a factor */
  float cross, power;  /* of rest and echo; of the echo */
  float other;         /* power of the rest */
} vg_band;

struct vg_suppressor {
  int frame, bins, band_count, band_bins;
  vg_transform transform;
  vg_band *bands;
  float *window;                 /* two frames, used before and after */
  float *last_rest, *last_echo;  /* the frame before */
  float *overlap;                /* half of what is given next */
  float *re, *im, *y_re, *y_im;
  float *power, *leaked, *gain;  /* by bins: of the rest, of the echo in it; what it is multiplied by */
  float *quick, *noise;          /* by bins: power, and its floor */
  float over;                    /* dB by which the rest is louder than an echo would be */
};

vg_suppressor *vg_suppressor_create(int frame, double rate) {
  vg_suppressor *own = calloc(1, sizeof *own);
  if (!own) return NULL;
  own->frame = frame;
  own->bins = frame + 1;
  own->band_bins = vg_band_bins(frame, rate);
  own->band_count = (own->bins + own->band_bins - 1) / own->band_bins;
  bool is_open = vg_transform_open(&own->transform, frame);
  is_open = (own->bands = calloc((size_t)own->band_count, sizeof(vg_band))) && is_open;
  is_open = (own->window = calloc((size_t)(2 * frame), sizeof(float))) && is_open;
  float **rows[] = {&own->last_rest, &own->last_echo, &own->overlap, &own->re,    &own->im,    &own->y_re,
                    &own->y_im,      &own->power,     &own->leaked,  &own->gain,  &own->quick, &own->noise};
  for (int row = 0; row < 12; row++) is_open = (*rows[row] = calloc((size_t)own->bins, sizeof(float))) && is_open;
  if (!is_open) {
    vg_suppressor_destroy(own);
    return NULL;
  }
  for (int place = 0; place < 2 * frame; place++) own->window[place] = (float)sin(M_PI * (place + 0.5) / (2 * frame));
  for (int bin = 0; bin < own->bins; bin++) {
    own->gain[bin] = 1;
    /* -50 dBFS, from where it falls quickly to what there is. */
    own->noise[bin] = 1e-5f * (float)frame;
  }
  vg_suppressor_forget(own);
  return own;
}

void vg_suppressor_destroy(vg_suppressor *own) {
  vg_transform_close(&own->transform);
  void *lists[] = {own->bands, own->window, own->last_rest, own->last_echo, own->overlap, own->re,    own->im,
                   own->y_re,  own->y_im,   own->power,     own->leaked,    own->gain,    own->quick, own->noise};
  for (int list = 0; list < 14; list++) free(lists[list]);
  free(own);
}

void vg_suppressor_forget(vg_suppressor *own) {
  for (int band = 0; band < own->band_count; band++) own->bands[band] = (vg_band){.known = 1, .leak = -10, .leaks = 0.1f};
  own->over = 0;
}

static float decibels(float level) { return powf(10, level / 10); }

/* The spectrum of two frames, of which the first is the one before. */
static void analyse(vg_suppressor *own, float *last, const float *now, float *re, float *im) {
  int frame = own->frame;
  for (int place = 0; place < frame; place++) {
    own->transform.time[place] = last[place] * own->window[place];
    own->transform.time[frame + place] = now[place] * own->window[frame + place];
  }
  memcpy(last, now, (size_t)frame * sizeof(float));
  vg_transform_forward(&own->transform, re, im);
}

/* What a band tells of the filter's doubt: what it doubts as a rule, which is far less than it could be. Takes powers, and
 * gives how much of the rest is echo or noise by that. */
static float expect(vg_band *band, float rest, float doubt, float noise, bool is_far) {
  band->rest = 0.8f * band->rest + 0.2f * rest;
  band->doubt = 0.8f * band->doubt + 0.2f * doubt;
  if (is_far && band->doubt * band->known > noise) {
    float excess = 10 * log10f((band->rest + 1e-12f) / (band->doubt + 1e-12f));
    band->usual += excess < band->usual ? usual_fall * (excess - band->usual) : usual_rise;
    band->usual = band->usual > 0 ? 0 : band->usual < least_usual ? least_usual : band->usual;
    band->known = decibels(band->usual);
  }
  return band->doubt * band->known + 2 * noise;
}

/* What the bands tell: how much of the echo is in the rest, and whether it is the echo at all. */
static float follow(vg_suppressor *own, const vg_suppressor_input *input) {
  float sum = 0, all = 1e-12f, expected = 1e-12f;
  int count = 0;
  for (int place = 0; place < own->band_count; place++) {
    vg_band *band = &own->bands[place];
    int first = place * own->band_bins, end = first + own->band_bins < own->bins ? first + own->band_bins : own->bins;
    float rest = 0, echo = 0, cross = 0, noise = 0, doubt = 0;
    for (int bin = first; bin < end; bin++) {
      rest += own->re[bin] * own->re[bin] + own->im[bin] * own->im[bin];
      echo += own->y_re[bin] * own->y_re[bin] + own->y_im[bin] * own->y_im[bin];
      noise += own->noise[bin];
      if (input->doubt) doubt += input->doubt[bin];
      cross += own->re[bin] * own->y_re[bin] + own->im[bin] * own->y_im[bin];
    }
    /* -70 dBFS in each bin. */
    float least = 1e-7f * (float)own->frame * (float)(end - first);
    expected += expect(band, rest, doubt, noise, input->is_far);
    all += band->rest;
    band->cross = agreement_smooth * band->cross + cross;
    band->power = agreement_smooth * band->power + echo;
    band->other = agreement_smooth * band->other + rest;
    if (band->power * (1 - agreement_smooth) > least + over_noise * noise && band->other < most_other * band->power) {
      float part = band->cross / band->power;
      sum += 1 + (part > 1 ? 1 : part < -2 ? -2 : part);
      count++;
    }
    if (!input->is_far || !input->is_clear || echo < 10 * least) continue;
    /* Its median: what somebody else says in between moves it little. */
    band->leak += rest > echo * band->leaks ? leak_step : -leak_step;
    band->leak = band->leak > 0 ? 0 : band->leak < -40 ? -40 : band->leak;
    band->leaks = decibels(band->leak);
  }
  float over = 10 * log10f(all / expected) - over_usual;
  if (over < 0) over = 0;
  if (input->is_far) own->over += (over > own->over ? speaker_rise : speaker_fall) * (over - own->over);
  return count < 4 ? 2 : sum / (float)count;
}

vg_suppressor_result vg_suppressor_process(
    vg_suppressor *own, const vg_suppressor_input *input, const vg_echo_tuning *tuning, float *given) {
  int frame = own->frame;
  analyse(own, own->last_echo, input->echo, own->y_re, own->y_im);
  analyse(own, own->last_rest, input->rest, own->re, own->im);
  vg_suppressor_result result = {.agreement = follow(own, input)};
  float certainty = input->certainty, leaks = over_leak;
  if (input->is_new) {
    float young = VG_MOST_CERTAIN * decibels(-speaker_slope * own->over);
    if (certainty < young) certainty = young;
    leaks *= decibels(own->over < speaker_leak ? -own->over : -speaker_leak);
  }
  float before = 1e-20f, after = 0, noise = 0;
  for (int bin = 0; bin < own->bins; bin++) {
    float power = own->re[bin] * own->re[bin] + own->im[bin] * own->im[bin];
    float echo = own->y_re[bin] * own->y_re[bin] + own->y_im[bin] * own->y_im[bin];
    own->power[bin] = smooth * own->power[bin] + (1 - smooth) * power;
    own->quick[bin] = 0.8f * own->quick[bin] + 0.2f * power;
    /* The floor falls with the power, and rises by some dB a second. */
    if (own->quick[bin] < own->noise[bin]) {
      own->noise[bin] += 0.2f * (own->quick[bin] - own->noise[bin]);
    } else {
      own->noise[bin] *= 1.003f;
    }
    noise += own->noise[bin];

    const vg_band *band = &own->bands[bin / own->band_bins];
    float leak = leaks * certainty * band->leaks * echo;
    own->leaked[bin] = own->leaked[bin] * 0.8f > leak ? own->leaked[bin] * 0.8f : leak;
    float left = input->is_far ? own->leaked[bin] : 0;
    if (input->doubt) {
      float doubt = over_doubt * certainty * (input->is_new ? band->known : 1) * input->doubt[bin];
      if (doubt > left) left = doubt;
    }
    if (input->most && left > over_most * input->most[bin]) left = over_most * input->most[bin];
    float wanted = own->power[bin] / (own->power[bin] + left + 1e-12f);
    wanted *= wanted;
    if (wanted < tuning->suppression) wanted = tuning->suppression;
    /* Twice the floor, since that follows the least. */
    float quiet = 1 - 4 * own->noise[bin] / (own->power[bin] + 1e-12f);
    float noise_gain = quiet > tuning->noise ? quiet : tuning->noise;
    wanted *= noise_gain;
    float floor = tuning->noise * sqrtf(1.5f * own->noise[bin] / (power + 1e-12f));
    if (wanted < floor) wanted = floor < 1 ? floor : 1;
    own->gain[bin] += (wanted - own->gain[bin]) * (wanted < own->gain[bin] ? 1 - fall : 1 - rise);
    before += power;
    after += power * own->gain[bin] * own->gain[bin];
    own->re[bin] *= own->gain[bin];
    own->im[bin] *= own->gain[bin];
  }
  vg_transform_backward(&own->transform, own->re, own->im);
  for (int place = 0; place < frame; place++) {
    given[place] = own->overlap[place] + own->transform.time[place] * own->window[place];
    own->overlap[place] = own->transform.time[frame + place] * own->window[frame + place];
  }
  result.openness = after / before;
  /* A bin's power is that of all samples of the window, whose mean square is a half, and every bin has a twin. */
  result.noise = noise / ((float)frame * (float)own->bins);
  return result;
}
