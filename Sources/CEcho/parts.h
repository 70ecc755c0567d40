/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the canceller: a filter that knows the way of the echo, and the suppressor of what it leaves. */
#ifndef VG_ECHO_PARTS_H
#define VG_ECHO_PARTS_H

#include "include/echo.h"

#include <kissfft/kiss_fftr.h>

/* Transforms of two frames. The inverse of a transform is the signal, not a multiple of it. */
typedef struct {
  int length; /* twice the frame */
  kiss_fftr_cfg forward, backward;
  float *time;         /* `length` samples, for whoever transforms */
  kiss_fft_cpx *bins;  /* length / 2 + 1 */
} vg_transform;

bool vg_transform_open(vg_transform *transform, int frame);
void vg_transform_close(vg_transform *transform);
/* From `time` to the real and imaginary parts of the bins. [audio] */
void vg_transform_forward(vg_transform *transform, float *re, float *im);
/* Back, into `time`. [audio] */
void vg_transform_backward(vg_transform *transform, const float *re, const float *im);

/* Partitioned Kalman filter in the frequency domain (G. Enzner and P. Vary, Signal Processing 86, 2006; F. Kuech et al.,
 * ICASSP 2014): each bin of each partition has a variance, so that it learns fast what it does not know, and is not
 * misled by a second speaker. */
typedef struct vg_kalman vg_kalman;
vg_kalman *vg_kalman_create(int frame, int tail);
void vg_kalman_destroy(vg_kalman *filter);
/* What of `heard` is no echo. [audio] */
void vg_kalman_process(vg_kalman *filter, const float *heard, const float *played, float *rest);
/* The power that the rest still has of the echo, as far as the filter knows what it does not know; by bins. [audio] */
const float *vg_kalman_doubt(const vg_kalman *filter);
/* Knows nothing any more. [audio] */
void vg_kalman_forget(vg_kalman *filter);

/* Takes away what the filter leaves of the echo, bin by bin, and steady noise if that is asked for; what is left of noise
 * goes on below, so that silence is not torn. One frame late. */
typedef struct vg_suppressor vg_suppressor;
vg_suppressor *vg_suppressor_create(int frame, double rate);
void vg_suppressor_destroy(vg_suppressor *suppressor);

typedef struct {
  const float *rest;   /* what the filter gives */
  const float *echo;   /* what it took away */
  const float *doubt;  /* by bins, or NULL */
  bool is_far;         /* the reference sounds */
  bool is_clear;       /* the filter takes most of it away, and nobody else speaks */
  float certainty;     /* how often more is taken for echo than is known of it, since nobody else can be so quiet; from 1 */
} vg_suppressor_input;

typedef struct {
  float agreement;   /* of the echo with what the filter took for it: 1 where that is right, also while somebody else
                        speaks; 0 where it is none; above 1: not known */
  float openness;    /* part of the power that was left */
  float noise;       /* mean square of the noise */
} vg_suppressor_result;

/* [audio] */
vg_suppressor_result vg_suppressor_process(
    vg_suppressor *suppressor, const vg_suppressor_input *input, const vg_echo_tuning *tuning, float *given);
/* The way of the echo is another. [audio] */
void vg_suppressor_forget(vg_suppressor *suppressor);

#endif
