/* SPDX-License-Identifier: Apache-2.0 */
#include "speex_filter.h"

#include <math.h>
#include <stdlib.h>

/* SPEEX_ECHO_SET_SAMPLING_RATE of speex/speex_echo.h. */
enum { SET_RATE = 24 };
/* The library writes a line to stderr and begins anew when its filter adds to what is heard for 50 frames; this does
 * so before, without the line. */
enum { FRAMES_OF_TROUBLE = 40 };

struct vg_speex_filter {
  vg_speex library;
  void *state;
  int frame;
  int trouble;
  float last_heard, last_rest;
  int16_t *heard, *played, *rest;
};

vg_speex_filter *vg_speex_filter_create(const vg_speex *library, int frame, int tail, double rate) {
  vg_speex_filter *filter = calloc(1, sizeof *filter);
  if (!filter) return NULL;
  filter->library = *library;
  filter->frame = frame;
  /* It divides by the number of its frames but one. */
  filter->state = library->echo_state_init(frame, tail < 2 * frame ? 2 * frame : tail);
  size_t count = (size_t)frame;
  filter->heard = calloc(count, sizeof(int16_t));
  filter->played = calloc(count, sizeof(int16_t));
  filter->rest = calloc(count, sizeof(int16_t));
  if (!filter->state || !filter->heard || !filter->played || !filter->rest) {
    vg_speex_filter_destroy(filter);
    return NULL;
  }
  int hertz = (int)rate;
  library->echo_ctl(filter->state, SET_RATE, &hertz);
  return filter;
}

void vg_speex_filter_destroy(vg_speex_filter *filter) {
  if (filter->state) filter->library.echo_state_destroy(filter->state);
  free(filter->heard);
  free(filter->played);
  free(filter->rest);
  free(filter);
}

void vg_speex_filter_forget(vg_speex_filter *filter) {
  filter->library.echo_state_reset(filter->state);
  filter->trouble = 0;
}

static int16_t integer(float sample) {
  float scaled = sample * 32768;
  return (int16_t)lrintf(scaled > 32767 ? 32767 : scaled < -32767 ? -32767 : scaled);
}

void vg_speex_filter_process(vg_speex_filter *filter, const float *heard, const float *played, float *rest) {
  for (int place = 0; place < filter->frame; place++) {
    filter->heard[place] = integer(heard[place]);
    /* Half as loud, so that no sum of its squares is more than the library takes for sane. */
    filter->played[place] = integer(0.5f * played[place]);
  }
  filter->library.echo_cancellation(filter->state, filter->heard, filter->played, filter->rest);
  /* As the library compares them: with high frequencies raised. */
  float before = 0, after = 0;
  for (int place = 0; place < filter->frame; place++) {
    rest[place] = (float)filter->rest[place] / 32768;
    float one = heard[place] - 0.9f * filter->last_heard, other = rest[place] - 0.9f * filter->last_rest;
    before += one * one;
    after += other * other;
    filter->last_heard = heard[place];
    filter->last_rest = rest[place];
  }
  filter->trouble = after > before ? filter->trouble + 1 : 0;
  if (filter->trouble >= FRAMES_OF_TROUBLE) vg_speex_filter_forget(filter);
}
