/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bins that are looked at, 300 Hz to 2.6 kHz with frames of 10 ms: speech is there whoever speaks. */
enum { MOST_PROBES = 24, FIRST_PROBE = 6, PROBE_STEP = 2 };
/* How fast the mean follows: half a second. */
static const float follow = 0.02f;

struct vg_likeness {
  int frame, partitions, probes;
  int newest;                   /* slot of the newest directions */
  float *played_re, *played_im; /* directions of the reference, a ring of partitions */
  float *mean_re, *mean_im;     /* of the directions of the rest as seen from those, partition by partition */
};

vg_likeness *vg_likeness_create(int frame, int partitions) {
  vg_likeness *likeness = calloc(1, sizeof *likeness);
  if (!likeness) return NULL;
  likeness->frame = frame;
  likeness->partitions = partitions;
  int fitting = (frame + 1 - FIRST_PROBE + PROBE_STEP - 1) / PROBE_STEP;
  likeness->probes = fitting < 0 ? 0 : fitting < MOST_PROBES ? fitting : MOST_PROBES;
  size_t all = (size_t)partitions * MOST_PROBES;
  bool is_open = true;
  float **rows[] = {&likeness->played_re, &likeness->played_im, &likeness->mean_re, &likeness->mean_im};
  for (int row = 0; row < 4; row++) is_open = (*rows[row] = calloc(all, sizeof(float))) && is_open;
  if (is_open) return likeness;
  vg_likeness_destroy(likeness);
  return NULL;
}

void vg_likeness_destroy(vg_likeness *likeness) {
  float *rows[] = {likeness->played_re, likeness->played_im, likeness->mean_re, likeness->mean_im};
  for (int row = 0; row < 4; row++) free(rows[row]);
  free(likeness);
}

void vg_likeness_forget(vg_likeness *likeness) {
  size_t bytes = (size_t)likeness->partitions * MOST_PROBES * sizeof(float);
  memset(likeness->mean_re, 0, bytes);
  memset(likeness->mean_im, 0, bytes);
}

/* The directions of the bins that are looked at; what is below `least` has hardly any. */
static void direct(const vg_likeness *likeness, vg_spectrum spectrum, float least, float *re, float *im) {
  for (int probe = 0; probe < likeness->probes; probe++) {
    int bin = FIRST_PROBE + PROBE_STEP * probe;
    float power = spectrum.re[bin] * spectrum.re[bin] + spectrum.im[bin] * spectrum.im[bin];
    float scale = 1 / sqrtf(power + least);
    re[probe] = spectrum.re[bin] * scale;
    im[probe] = spectrum.im[bin] * scale;
  }
}

float vg_likeness_follow(vg_likeness *likeness, vg_spectrum played, vg_spectrum rest) {
  float re[MOST_PROBES] = {0}, im[MOST_PROBES] = {0};
  likeness->newest = (likeness->newest + likeness->partitions - 1) % likeness->partitions;
  size_t now = (size_t)likeness->newest * MOST_PROBES;
  /* -70 and -80 dBFS in a bin. */
  float least = 1e-8f * (float)likeness->frame;
  direct(likeness, played, 10 * least, likeness->played_re + now, likeness->played_im + now);
  direct(likeness, rest, least, re, im);
  float most = 0, last = 0, before = 0;
  for (int partition = 0; partition < likeness->partitions; partition++) {
    size_t from = (size_t)((likeness->newest + partition) % likeness->partitions) * MOST_PROBES;
    size_t to = (size_t)partition * MOST_PROBES;
    const float *restrict played_re = likeness->played_re + from, *restrict played_im = likeness->played_im + from;
    float *restrict mean_re = likeness->mean_re + to, *restrict mean_im = likeness->mean_im + to;
    float sum = 0, squares[MOST_PROBES];
    for (int probe = 0; probe < MOST_PROBES; probe++) {
      mean_re[probe] += follow * (played_re[probe] * re[probe] + played_im[probe] * im[probe] - mean_re[probe]);
      mean_im[probe] += follow * (played_re[probe] * im[probe] - played_im[probe] * re[probe] - mean_im[probe]);
      squares[probe] = mean_re[probe] * mean_re[probe] + mean_im[probe] * mean_im[probe];
    }
    for (int probe = 0; probe < likeness->probes; probe++) sum += squares[probe];
    if (sum + last + before > most) most = sum + last + before;
    before = last;
    last = sum;
  }
  return likeness->probes > 0 ? most / (float)likeness->probes : 0;
}
