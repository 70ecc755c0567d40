/* SPDX-License-Identifier: Apache-2.0 */
/* The echo canceller's work, frame by frame of some 10 ms: what a microphone hears of a reference is learnt and taken
 * away. Functions marked VG_ECHO_AUDIO may run on an audio thread: no allocation, lock or system call. */
#ifndef VG_ECHO_H
#define VG_ECHO_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__swift__)
#define VG_ECHO_AUDIO __attribute__((swift_attr("@_noLocks")))
#else
#define VG_ECHO_AUDIO
#endif

/* What is used of speexdsp (libspeexdsp.so.1), which is loaded at run time: addresses of its functions, by the names that
 * they have there. */
typedef struct {
  void *_Nullable (*_Nullable echo_state_init)(int frame, int tail);
  void (*_Nullable echo_state_destroy)(void *_Nonnull state);
  void (*_Nullable echo_state_reset)(void *_Nonnull state);
  int (*_Nullable echo_ctl)(void *_Nonnull state, int request, void *_Nonnull value);
  void (*_Nullable echo_cancellation)(
      void *_Nonnull state, const int16_t *_Nonnull heard, const int16_t *_Nonnull played, int16_t *_Nonnull clean);
} vg_speex;

/* What may change from frame to frame. */
typedef struct {
  float suppression; /* least gain of what is left of the echo, linear; 1: it stays */
  float noise;       /* least gain of steady noise, linear; 1: it stays */
  float target;      /* root mean square that speech is brought to, linear; 0: it stays as loud as it is */
} vg_echo_tuning;

/* What was found in one frame. */
typedef struct {
  float heard;          /* mean square of the microphone, one frame ago: at the time of what is given */
  float given;          /* mean square of what is given */
  uint32_t clipped;     /* samples of the microphone at full scale */
  bool is_far;          /* the reference sounds, or did within the tail */
  bool is_learnt;       /* the way of the echo is known so far that most of it is taken away */
  bool has_changed;     /* the way was found to be another than before, and is learnt anew */
} vg_echo_measures;

typedef struct vg_echo vg_echo;

/* Frames of the graph in one frame of the canceller: at most 10 ms, and a number that is quick to transform. */
int vg_echo_frame(double rate);

/* A canceller for ways of at most `tail` frames of the graph; with the filter of speexdsp, or with a Kalman filter of its
 * own where `speex` is NULL. NULL: no memory. [control] */
vg_echo *_Nullable vg_echo_create(double rate, int tail, const vg_speex *_Nullable speex);
void vg_echo_destroy(vg_echo *_Nonnull echo);

/* Takes one frame of the microphone and of the reference, as they belong together, and gives the frame before without
 * its echo. Samples must be numbers. [audio] */
VG_ECHO_AUDIO void vg_echo_process(
    vg_echo *_Nonnull echo, const float *_Nonnull heard, const float *_Nonnull played, float *_Nonnull given,
    const vg_echo_tuning *_Nonnull tuning, vg_echo_measures *_Nonnull measures);

#endif
