/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <stdlib.h>

int vg_echo_frame(double rate) {
  int longest = (int)(rate / 100);
  if (longest < 8) longest = 8;
  /* Lengths of other factors take several times as long, and memory while they run. */
  for (int frame = longest & ~1; frame > 2; frame -= 2) {
    int rest = frame;
    while (rest % 2 == 0) rest /= 2;
    while (rest % 3 == 0) rest /= 3;
    while (rest % 5 == 0) rest /= 5;
    if (rest == 1) return frame;
  }
  return 2;
}

int vg_band_bins(int frame, double rate) {
  int bins = (int)(250 * 2 * frame / rate);
  return bins < 4 ? 4 : bins;
}

bool vg_transform_open(vg_transform *transform, int frame) {
  transform->length = 2 * frame;
  transform->forward = kiss_fftr_alloc(2 * frame, 0, NULL, NULL);
  transform->backward = kiss_fftr_alloc(2 * frame, 1, NULL, NULL);
  transform->time = calloc((size_t)(2 * frame), sizeof(float));
  transform->bins = calloc((size_t)(frame + 1), sizeof(kiss_fft_cpx));
  return transform->forward && transform->backward && transform->time && transform->bins;
}

void vg_transform_close(vg_transform *transform) {
  kiss_fftr_free(transform->forward);
  kiss_fftr_free(transform->backward);
  free(transform->time);
  free(transform->bins);
}

void vg_transform_forward(vg_transform *transform, float *re, float *im) {
  kiss_fftr(transform->forward, transform->time, transform->bins);
  for (int bin = 0; bin <= transform->length / 2; bin++) {
    re[bin] = transform->bins[bin].r;
    im[bin] = transform->bins[bin].i;
  }
}

void vg_transform_backward(vg_transform *transform, const float *re, const float *im) {
  for (int bin = 0; bin <= transform->length / 2; bin++) {
    transform->bins[bin].r = re[bin];
    transform->bins[bin].i = im[bin];
  }
  kiss_fftri(transform->backward, transform->bins, transform->time);
  float scale = 1.0f / (float)transform->length;
  for (int place = 0; place < transform->length; place++) transform->time[place] *= scale;
}
