/* SPDX-License-Identifier: Apache-2.0 */
/* The audio processing of WebRTC (libwebrtc-audio-processing1, version 0.3), which Swift loads at run time. It takes locks
 * and memory, so none of this is for an audio thread. By one thread at a time. */
#ifndef VG_ECHO_WEBRTC_H
#define VG_ECHO_WEBRTC_H

#include "echo.h"

typedef struct vg_webrtc vg_webrtc;

/* Whether its headers were there when this was built: otherwise none is made. */
bool vg_webrtc_is_built(void);
/* The symbol of webrtc::AudioProcessing::Create(). */
#define VG_WEBRTC_MAKER "_ZN6webrtc15AudioProcessing6CreateEv"
/* A canceller at a rate, by the function at the address of that symbol. NULL: no memory. [control] */
vg_webrtc *_Nullable vg_webrtc_create(const void *_Nonnull maker, double rate);
void vg_webrtc_destroy(vg_webrtc *_Nonnull webrtc);
/* Frames that it takes at a time, of 10 ms, and frames by which what it gives is later than what it takes. */
int vg_webrtc_frame(const vg_webrtc *_Nonnull webrtc);
int vg_webrtc_delay(const vg_webrtc *_Nonnull webrtc);
/* Takes one frame, and gives one. */
void vg_webrtc_process(
    vg_webrtc *_Nonnull webrtc, const float *_Nonnull heard, const float *_Nonnull played, float *_Nonnull given,
    const vg_echo_tuning *_Nonnull tuning, vg_echo_measures *_Nonnull measures);

#endif
