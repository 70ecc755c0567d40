/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* How much of the way is thought to stay from frame to frame (its square). */
static const float stays = 0.999f * 0.999f;
/* How slowly the power of what is no echo follows. */
static const float smooth = 0.7f;
/* Partitions in which each frame what reaches beyond them is removed, besides the first. */
enum { CONSTRAINED = 4 };

struct vg_kalman {
  int frame, bins, partitions;
  int newest; /* slot of the newest spectrum */
  int next;   /* partition that is constrained next */
  vg_transform transform;
  vg_path_limit *limit;
  vg_likeness *likeness;
  float alike;                /* the rest, to the reference */
  float *played;              /* two frames */
  float *x_re, *x_im;         /* spectra of the reference, a ring of partitions */
  float *h_re, *h_im;         /* the way, partition by partition */
  float *variance;            /* of the way */
  float *other;               /* power of what is no echo, by bins */
  float *doubt;               /* power of the echo that is not known, by bins */
  float *re, *im, *weight;    /* one spectrum each */
};

vg_kalman *vg_kalman_create(int frame, int tail, double rate) {
  vg_kalman *filter = calloc(1, sizeof *filter);
  if (!filter) return NULL;
  filter->frame = frame;
  filter->bins = frame + 1;
  filter->partitions = (tail + frame - 1) / frame;
  if (filter->partitions < 1) filter->partitions = 1;
  size_t bins = (size_t)filter->bins, all = bins * (size_t)filter->partitions;
  bool is_open = vg_transform_open(&filter->transform, frame);
  is_open = (filter->limit = vg_path_limit_create(frame, filter->partitions, rate)) && is_open;
  is_open = (filter->likeness = vg_likeness_create(frame, filter->partitions)) && is_open;
  float **lists[] = {&filter->x_re, &filter->x_im, &filter->h_re, &filter->h_im, &filter->variance};
  for (int list = 0; list < 5; list++) is_open = (*lists[list] = calloc(all, sizeof(float))) && is_open;
  float **rows[] = {&filter->other, &filter->doubt, &filter->re, &filter->im, &filter->weight};
  for (int row = 0; row < 5; row++) is_open = (*rows[row] = calloc(bins, sizeof(float))) && is_open;
  is_open = (filter->played = calloc((size_t)(2 * frame), sizeof(float))) && is_open;
  if (!is_open) {
    vg_kalman_destroy(filter);
    return NULL;
  }
  vg_kalman_forget(filter);
  return filter;
}

void vg_kalman_destroy(vg_kalman *filter) {
  vg_transform_close(&filter->transform);
  if (filter->limit) vg_path_limit_destroy(filter->limit);
  if (filter->likeness) vg_likeness_destroy(filter->likeness);
  float *lists[] = {filter->x_re,  filter->x_im, filter->h_re, filter->h_im, filter->variance, filter->other,
                    filter->doubt, filter->re,   filter->im,   filter->weight, filter->played};
  for (int list = 0; list < 11; list++) free(lists[list]);
  free(filter);
}

void vg_kalman_restart(vg_kalman *filter) {
  size_t all = (size_t)filter->bins * (size_t)filter->partitions;
  memset(filter->h_re, 0, all * sizeof(float));
  memset(filter->h_im, 0, all * sizeof(float));
  size_t bytes = (size_t)filter->bins * sizeof(float);
  for (size_t place = 0; place < all; place += (size_t)filter->bins) {
    memcpy(filter->variance + place, vg_path_limit_gain(filter->limit), bytes);
  }
  vg_likeness_forget(filter->likeness);
  filter->alike = 0;
}

void vg_kalman_forget(vg_kalman *filter) {
  vg_path_limit_forget(filter->limit);
  vg_kalman_restart(filter);
}

const float *vg_kalman_doubt(const vg_kalman *filter) { return filter->doubt; }

const float *vg_kalman_most(const vg_kalman *filter) { return vg_path_limit_most(filter->limit); }

float vg_kalman_likeness(const vg_kalman *filter) { return filter->alike; }

/* The spectrum of the reference that belongs to a partition. */
static size_t slot(const vg_kalman *filter, int partition) {
  return (size_t)((filter->newest + partition) % filter->partitions) * (size_t)filter->bins;
}

static vg_spectrum played_spectrum(const vg_kalman *filter, int partition) {
  return (vg_spectrum){filter->x_re + slot(filter, partition), filter->x_im + slot(filter, partition)};
}

/* The spectrum of one frame, as if silence had been before it, in `re` and `im`. */
static void analyse(vg_kalman *filter, const float *samples) {
  size_t bytes = (size_t)filter->frame * sizeof(float);
  memset(filter->transform.time, 0, bytes);
  memcpy(filter->transform.time + filter->frame, samples, bytes);
  vg_transform_forward(&filter->transform, filter->re, filter->im);
}

static void constrain(vg_kalman *filter, int partition) {
  size_t first = (size_t)partition * (size_t)filter->bins;
  vg_transform_backward(&filter->transform, filter->h_re + first, filter->h_im + first);
  memset(filter->transform.time + filter->frame, 0, (size_t)filter->frame * sizeof(float));
  vg_transform_forward(&filter->transform, filter->h_re + first, filter->h_im + first);
}

/* The echo as the filter knows it, and what it does not know of it. */
static void predict(vg_kalman *filter) {
  float *restrict re = filter->re, *restrict im = filter->im, *restrict doubt = filter->doubt;
  memset(re, 0, (size_t)filter->bins * sizeof(float));
  memset(im, 0, (size_t)filter->bins * sizeof(float));
  memset(doubt, 0, (size_t)filter->bins * sizeof(float));
  for (int partition = 0; partition < filter->partitions; partition++) {
    size_t from = slot(filter, partition), to = (size_t)partition * (size_t)filter->bins;
    const float *restrict x_re = filter->x_re + from, *restrict x_im = filter->x_im + from;
    const float *restrict h_re = filter->h_re + to, *restrict h_im = filter->h_im + to;
    const float *restrict variance = filter->variance + to;
    for (int bin = 0; bin < filter->bins; bin++) {
      re[bin] += h_re[bin] * x_re[bin] - h_im[bin] * x_im[bin];
      im[bin] += h_re[bin] * x_im[bin] + h_im[bin] * x_re[bin];
      doubt[bin] += 0.5f * variance[bin] * (x_re[bin] * x_re[bin] + x_im[bin] * x_im[bin]);
    }
  }
}

/* Learns from the spectrum of the rest, which is in `re` and `im`. */
static void learn(vg_kalman *filter) {
  const float *restrict re = filter->re, *restrict im = filter->im;
  const float *restrict limit = vg_path_limit_gain(filter->limit);
  float *restrict weight = filter->weight;
  /* Far below the noise of any microphone: only against a division by nothing. */
  float least = 1e-8f * (float)filter->frame;
  for (int bin = 0; bin < filter->bins; bin++) {
    float power = re[bin] * re[bin] + im[bin] * im[bin];
    /* Twice, so that it does not believe too soon to know the way. */
    filter->other[bin] = smooth * filter->other[bin] + (1 - smooth) * 2 * power;
    weight[bin] = 1 / (filter->doubt[bin] + filter->other[bin] + least);
  }
  for (int partition = 0; partition < filter->partitions; partition++) {
    size_t from = slot(filter, partition), to = (size_t)partition * (size_t)filter->bins;
    const float *restrict x_re = filter->x_re + from, *restrict x_im = filter->x_im + from;
    float *restrict h_re = filter->h_re + to, *restrict h_im = filter->h_im + to;
    float *restrict variance = filter->variance + to;
    for (int bin = 0; bin < filter->bins; bin++) {
      float gain = variance[bin] * weight[bin];
      float power = x_re[bin] * x_re[bin] + x_im[bin] * x_im[bin];
      h_re[bin] += gain * (x_re[bin] * re[bin] + x_im[bin] * im[bin]);
      h_im[bin] += gain * (x_re[bin] * im[bin] - x_im[bin] * re[bin]);
      float known = h_re[bin] * h_re[bin] + h_im[bin] * h_im[bin];
      float next = stays * (1 - 0.5f * gain * power) * variance[bin] + (1 - stays) * known;
      variance[bin] = next < limit[bin] ? next : limit[bin];
    }
  }
}

void vg_kalman_process(vg_kalman *filter, const float *heard, const float *played, float *rest) {
  int frame = filter->frame;
  size_t bytes = (size_t)frame * sizeof(float);
  vg_transform *transform = &filter->transform;
  memcpy(filter->played, filter->played + frame, bytes);
  memcpy(filter->played + frame, played, bytes);
  filter->newest = (filter->newest + filter->partitions - 1) % filter->partitions;
  memcpy(transform->time, filter->played, 2 * bytes);
  vg_transform_forward(transform, filter->x_re + slot(filter, 0), filter->x_im + slot(filter, 0));

  analyse(filter, heard);
  vg_spectrum now = {filter->re, filter->im};
  vg_path_limit_follow(
      filter->limit, now, played_spectrum(filter, 0), played_spectrum(filter, filter->partitions - 1));
  predict(filter);
  vg_transform_backward(transform, filter->re, filter->im);
  /* The second half is free of what the transform wraps around. */
  for (int place = 0; place < frame; place++) rest[place] = heard[place] - transform->time[frame + place];
  analyse(filter, rest);
  filter->alike = vg_likeness_follow(filter->likeness, played_spectrum(filter, 0), now);
  learn(filter);

  /* All in turn, since that takes the most time; the first always, since most of the way is there. */
  constrain(filter, 0);
  for (int count = 0; count < CONSTRAINED && filter->partitions > 1; count++) {
    filter->next = filter->next % (filter->partitions - 1) + 1;
    constrain(filter, filter->next);
  }
}
