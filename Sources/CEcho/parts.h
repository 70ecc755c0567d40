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

/* One spectrum: its real and imaginary parts, by bins. */
typedef struct {
  const float *re, *im;
} vg_spectrum;

/* Bins of a band of 250 Hz, at least 4. */
int vg_band_bins(int frame, double rate);

/* How much of the reference the microphone can hear at most, by bands: what it heard in all of the tail after a loud sound,
 * which is echo, noise and whoever speaks, and so more than the echo. The least that was found holds. */
typedef struct vg_path_limit vg_path_limit;
vg_path_limit *vg_path_limit_create(int frame, int partitions, double rate);
void vg_path_limit_destroy(vg_path_limit *limit);
/* Takes spectra of a frame of the microphone, and of the reference as it is and as it was a tail ago. [audio] */
void vg_path_limit_follow(vg_path_limit *limit, vg_spectrum heard, vg_spectrum newest, vg_spectrum oldest);
/* By bins: what the reference is multiplied by at most, as a power, and the power of the echo at most. [audio] */
const float *vg_path_limit_gain(const vg_path_limit *limit);
const float *vg_path_limit_most(const vg_path_limit *limit);
/* The way is another one. [audio] */
void vg_path_limit_forget(vg_path_limit *limit);

/* How alike the rest is to the reference at any delay within the tail, by the coherence of their directions in some bins: an
 * echo that no filter takes away, which is no second talker. */
typedef struct vg_likeness vg_likeness;
vg_likeness *vg_likeness_create(int frame, int partitions);
void vg_likeness_destroy(vg_likeness *likeness);
/* Takes one spectrum of each. 1: the rest is one echo of the reference; with voices that have nothing to do with each other
 * at most 0.05. [audio] */
float vg_likeness_follow(vg_likeness *likeness, vg_spectrum played, vg_spectrum rest);
void vg_likeness_forget(vg_likeness *likeness);

/* Partitioned Kalman filter in the frequency domain (G. Enzner and P. Vary, Signal Processing 86, 2006; F. Kuech et al.,
 * ICASSP 2014): each bin of each partition has a variance, so that it learns fast what it does not know, and is not
 * misled by a second speaker. No variance is beyond what the microphone can hear of the reference. */
typedef struct vg_kalman vg_kalman;
vg_kalman *vg_kalman_create(int frame, int tail, double rate);
void vg_kalman_destroy(vg_kalman *filter);
/* What of `heard` is no echo. [audio] */
void vg_kalman_process(vg_kalman *filter, const float *heard, const float *played, float *rest);
/* The power that the rest still has of the echo, as far as the filter knows what it does not know; by bins. [audio] */
const float *vg_kalman_doubt(const vg_kalman *filter);
/* The power of the whole echo at most, by bins. [audio] */
const float *vg_kalman_most(const vg_kalman *filter);
/* How alike the rest is to the reference, as a likeness tells it. [audio] */
float vg_kalman_likeness(const vg_kalman *filter);
/* Knows nothing any more but how much of the reference can be heard. [audio] */
void vg_kalman_restart(vg_kalman *filter);
/* Knows nothing any more. [audio] */
void vg_kalman_forget(vg_kalman *filter);

/* Takes away what the filter leaves of the echo, bin by bin, and steady noise if that is asked for; what is left of noise
 * goes on below, so that silence is not torn. One frame late. */
typedef struct vg_suppressor vg_suppressor;
vg_suppressor *vg_suppressor_create(int frame, double rate);
void vg_suppressor_destroy(vg_suppressor *suppressor);

enum { VG_MOST_CERTAIN = 32 };

typedef struct {
  const float *rest;   /* what the filter gives */
  const float *echo;   /* what it took away */
  const float *doubt;  /* by bins, or NULL */
  const float *most;   /* power of the whole echo at most, by bins, or NULL */
  bool is_far;         /* the reference sounds */
  bool is_clear;       /* the filter takes most of it away, and nobody else speaks */
  bool is_new;         /* little is known of the way yet: all of the rest is echo, unless it is too loud for that */
  float certainty;     /* how often more is taken for echo than is known of it, since nobody else can be so quiet; from 1 to
                          VG_MOST_CERTAIN */
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
