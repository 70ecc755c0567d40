/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"
#include "speech_level.h"
#include "speex_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Powers below which there is no sound: -70 dBFS. */
static const float audible = 1e-7f;
/* Frames in a row after which a way that does not agree is another; frames of echo for which a new way is left alone, after
 * which it can be known, and for which it is new. */
enum { FRAMES_OF_CHANGE = 5, FRAMES_OF_START = 30, FRAMES_OF_LEARNING = 60, FRAMES_OF_YOUTH = 400 };
/* Agreement below which a way is another, and above which it is known. */
static const float disagrees = 0.33f, agrees = 0.75f;
/* Likeness of the rest to the reference beyond which there is an echo in it that the filter does not know. */
static const float is_alike = 0.075f;
/* What is louder than was heard is another way where it is so many times what the filter doubts, and what was taken away so
 * many times the noise; else the filter has not learnt enough. */
static const float over_doubt = 4, over_noise = 10;

struct vg_echo {
  int frame, tail_frames;
  float seconds;
  vg_kalman *kalman;
  vg_speex_filter *speex;
  vg_suppressor *suppressor;
  vg_speech_level level;
  float *last_heard, *rest, *echo;
  float last_power;
  float heard, left;   /* powers, smoothed */
  float long_heard, long_left;  /* over half a second */
  float taken, doubt;  /* of what was taken away, and of what the filter does not know, smoothed */
  int silent;          /* frames since the reference sounded at all */
  int quiet;           /* frames since it was audible */
  int age;             /* frames of echo since the way is being learnt */
  int loud, apart;     /* frames in a row in which the rest is louder than what was heard, or the way does not agree */
  bool is_known, passes;
};

vg_echo *vg_echo_create(double rate, int tail, const vg_speex *speex) {
  vg_echo *echo = calloc(1, sizeof *echo);
  if (!echo) return NULL;
  echo->frame = vg_echo_frame(rate);
  echo->seconds = (float)(echo->frame / rate);
  echo->tail_frames = (tail + echo->frame - 1) / echo->frame + 1;
  echo->silent = echo->quiet = echo->tail_frames;
  echo->level.last = 1;
  size_t count = (size_t)echo->frame;
  echo->last_heard = calloc(count, sizeof(float));
  echo->rest = calloc(count, sizeof(float));
  echo->echo = calloc(count, sizeof(float));
  if (speex) {
    echo->speex = vg_speex_filter_create(speex, echo->frame, tail, rate);
  } else {
    echo->kalman = vg_kalman_create(echo->frame, tail, rate);
  }
  echo->suppressor = vg_suppressor_create(echo->frame, rate);
  if (echo->last_heard && echo->rest && echo->echo && (echo->speex || echo->kalman) && echo->suppressor) return echo;
  vg_echo_destroy(echo);
  return NULL;
}

void vg_echo_destroy(vg_echo *echo) {
  if (echo->kalman) vg_kalman_destroy(echo->kalman);
  if (echo->speex) vg_speex_filter_destroy(echo->speex);
  if (echo->suppressor) vg_suppressor_destroy(echo->suppressor);
  free(echo->last_heard);
  free(echo->rest);
  free(echo->echo);
  free(echo);
}

static float mean_square(const float *samples, int count) {
  float sum = 0;
  for (int place = 0; place < count; place++) sum += samples[place] * samples[place];
  return sum / (float)count;
}

/* Learns anew. Of another way nothing is known; else how much of the reference can be heard still is. */
static void forget(vg_echo *echo, bool is_other_way) {
  if (echo->kalman) (is_other_way ? vg_kalman_forget : vg_kalman_restart)(echo->kalman);
  if (echo->speex) vg_speex_filter_forget(echo->speex);
  vg_suppressor_forget(echo->suppressor);
  echo->age = echo->loud = echo->apart = 0;
  echo->is_known = false;
}

/* Looks whether the way is still the one that is being learnt; whether it was known, and is another. */
static bool has_changed(vg_echo *echo, const vg_suppressor_result *result, float alike, bool is_far, bool is_sounding) {
  bool agrees_now = result->agreement < 1.5f && result->agreement > agrees;
  if (agrees_now && echo->age >= FRAMES_OF_LEARNING) echo->is_known = true;
  echo->apart = echo->is_known && is_far && result->agreement < disagrees ? echo->apart + 1 : 0;
  /* A microphone that hears nothing at all is no other way. */
  bool is_louder = echo->left > audible && echo->left > 1.5f * echo->heard;
  bool is_surprise = echo->left > over_doubt * echo->doubt && echo->taken > over_noise * result->noise;
  echo->loud = is_sounding && is_louder && (is_surprise || !echo->is_known) ? echo->loud + 1 : 0;
  /* Little is taken away, at most 7 dB, and yet the rest is an echo: the loudspeaker was off, or a clock is faster. */
  bool is_missed = is_sounding && echo->long_left > 0.2f * echo->long_heard && alike > is_alike;
  bool was_known = echo->is_known;
  if (echo->age < FRAMES_OF_START) return false;
  if (!is_missed && echo->apart < FRAMES_OF_CHANGE && echo->loud < FRAMES_OF_CHANGE) return false;
  forget(echo, is_missed || was_known);
  return was_known && !is_missed;
}

void vg_echo_process(
    vg_echo *echo, const float *heard, const float *played, float *given, const vg_echo_tuning *tuning,
    vg_echo_measures *measures) {
  int frame = echo->frame;
  float power = mean_square(heard, frame), reference = mean_square(played, frame);
  echo->silent = reference > 0 ? 0 : echo->silent + (echo->silent < echo->tail_frames);
  echo->quiet = reference > audible ? 0 : echo->quiet + (echo->quiet < echo->tail_frames);
  bool is_far = echo->quiet < echo->tail_frames, is_sounding = echo->quiet == 0;
  *measures = (vg_echo_measures){.heard = echo->last_power, .is_far = is_far};
  for (int place = 0; place < frame; place++) measures->clipped += fabsf(heard[place]) >= 0.999f;

  /* Without a reference there is nothing to take away, nor to learn; what is known stays known. */
  bool rests = echo->kalman && echo->silent >= echo->tail_frames;
  if (rests) memcpy(echo->rest, heard, (size_t)frame * sizeof(float));
  if (echo->kalman && !rests) vg_kalman_process(echo->kalman, heard, played, echo->rest);
  if (echo->speex) vg_speex_filter_process(echo->speex, heard, played, echo->rest);
  for (int place = 0; place < frame; place++) echo->echo[place] = heard[place] - echo->rest[place];
  float rest = mean_square(echo->rest, frame);
  echo->heard = 0.8f * echo->heard + 0.2f * power;
  echo->left = 0.8f * echo->left + 0.2f * rest;
  echo->long_heard = 0.98f * echo->long_heard + 0.02f * power;
  echo->long_left = 0.98f * echo->long_left + 0.02f * rest;
  echo->taken = 0.8f * echo->taken + 0.2f * mean_square(echo->echo, frame);
  const float *doubt = echo->kalman && !rests ? vg_kalman_doubt(echo->kalman) : NULL;
  float doubted = 0;
  for (int bin = 0; doubt && bin <= frame; bin++) doubted += doubt[bin];
  /* As a mean square: each bin has a twin, in two frames. */
  echo->doubt = 0.8f * echo->doubt + 0.2f * doubted / ((float)frame * (float)frame);

  /* 8 dB: somebody else who is as loud as the echo leaves 3. */
  bool is_clear = echo->left < 0.16f * echo->heard;
  /* Nobody else is 6 dB quieter than the echo, and far more is taken for echo where less is left. */
  float certainty = 0.25f * echo->heard / (echo->left + 1e-12f);
  certainty = certainty < 1 ? 1 : certainty > VG_MOST_CERTAIN ? VG_MOST_CERTAIN : certainty;
  vg_suppressor_input input = {
      .rest = echo->rest,
      .echo = echo->echo,
      .doubt = doubt,
      .most = doubt ? vg_kalman_most(echo->kalman) : NULL,
      .is_far = is_far,
      .is_clear = is_sounding && is_clear,
      .is_new = echo->kalman && echo->age < FRAMES_OF_YOUTH,
      .certainty = certainty,
  };
  vg_suppressor_result result = vg_suppressor_process(echo->suppressor, &input, tuning, given);

  if (is_sounding && echo->age < FRAMES_OF_YOUTH) echo->age++;
  measures->has_changed =
      has_changed(echo, &result, echo->kalman && !rests ? vg_kalman_likeness(echo->kalman) : 0, is_far, is_sounding);
  measures->is_learnt = echo->is_known;

  /* Without a reference nothing is taken away; then not a bit is changed, from the end of one frame that is both. */
  bool passes = echo->silent >= echo->tail_frames && tuning->noise >= 1;
  if (passes && echo->passes) {
    memcpy(given, echo->last_heard, (size_t)frame * sizeof(float));
  } else if (passes != echo->passes) {
    for (int place = 0; place < frame; place++) {
      float part = (float)(place + 1) / (float)frame;
      if (!passes) part = 1 - part;
      given[place] += (echo->last_heard[place] - given[place]) * part;
    }
  }
  vg_speech_level_process(
      &echo->level, given, frame, echo->seconds, tuning->target, result.noise, result.openness > 0.3f);
  echo->passes = passes;
  echo->last_power = power;
  memcpy(echo->last_heard, heard, (size_t)frame * sizeof(float));
  measures->given = mean_square(given, frame);
}
