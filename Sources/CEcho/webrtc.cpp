// SPDX-License-Identifier: Apache-2.0
// The library's classes are called through their virtual functions, as its header declares them; the one symbol that is
// needed is the function that makes the first of them.
extern "C" {
#include "include/webrtc.h"
#include "speech_level.h"
}

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#if __has_include(<webrtc_audio_processing/webrtc/modules/audio_processing/include/audio_processing.h>)

#define WEBRTC_POSIX
#define WEBRTC_AUDIO_PROCESSING_ONLY_BUILD
#include <webrtc/modules/audio_processing/include/audio_processing.h>

namespace {

float mean_square(const float *samples, int count) {
  float sum = 0;
  for (int place = 0; place < count; place++) sum += samples[place] * samples[place];
  return sum / static_cast<float>(count);
}

}  // namespace

struct vg_webrtc {
  std::unique_ptr<webrtc::AudioProcessing> audio;
  webrtc::StreamConfig stream;
  int rate, frame, delay;
  std::vector<float> played;
  vg_echo_tuning tuning;
  vg_speech_level level;
  float last_power;
  int quiet;

  vg_webrtc(webrtc::AudioProcessing *made, int rate)
      : audio(made), stream(rate, 1), rate(rate), frame(rate / 100), delay(0), played(static_cast<size_t>(frame)),
        tuning{1, 1, 0}, level{0, 0, 1}, last_power(0), quiet(0) {
    // What it does without being asked would be different from the other cancellers.
    audio->high_pass_filter()->Enable(false);
    audio->echo_cancellation()->Enable(true);
    set({0.01f, 1, 0});
  }

  void set(const vg_echo_tuning &wanted) {
    if (std::memcmp(&wanted, &tuning, sizeof tuning) == 0) return;
    tuning = wanted;
    float decibels = -20 * std::log10(wanted.suppression);
    // It has three strengths, and none at all cannot be asked for.
    audio->echo_cancellation()->set_suppression_level(
        decibels < 20 ? webrtc::EchoCancellation::kLowSuppression
                      : decibels < 60 ? webrtc::EchoCancellation::kModerateSuppression
                                      : webrtc::EchoCancellation::kHighSuppression);
    audio->noise_suppression()->Enable(wanted.noise < 1);
    // 6, 12, 18 and 21 dB.
    float noise = -20 * std::log10(wanted.noise);
    audio->noise_suppression()->set_level(
        noise < 9 ? webrtc::NoiseSuppression::kLow
                  : noise < 15 ? webrtc::NoiseSuppression::kModerate
                               : noise < 20 ? webrtc::NoiseSuppression::kHigh : webrtc::NoiseSuppression::kVeryHigh);
  }

  bool run(const float *heard, const float *far, float *given) {
    std::copy(far, far + frame, played.begin());
    float *reverse = played.data();
    bool is_done = audio->ProcessReverseStream(&reverse, stream, stream, &reverse) == 0;
    audio->set_stream_delay_ms(0);
    return audio->ProcessStream(&heard, stream, stream, &given) == 0 && is_done;
  }

  // How late it gives is written nowhere, and depends on the rate: noise is sent through and looked for.
  void measure() {
    const int frames = 40;
    std::vector<float> in(static_cast<size_t>(frames * frame)), out(in.size()), silence(static_cast<size_t>(frame));
    unsigned state = 1;
    for (float &sample : in) {
      state = state * 1664525u + 1013904223u;
      sample = (static_cast<float>(state >> 8) / (1 << 24) - 0.5f) * 0.2f;
    }
    // Without the highest frequencies, which its band filters move elsewhere.
    for (int pass = 0; pass < 4; pass++) {
      for (size_t place = in.size() - 1; place > 0; place--) in[place] = 0.5f * (in[place] + in[place - 1]);
    }
    for (int count = 0; count < frames; count++) run(&in[count * frame], silence.data(), &out[count * frame]);
    double best = 0;
    for (int lag = 0; lag < 2 * frame; lag++) {
      double sum = 0;
      for (int place = 20 * frame; place < 30 * frame; place++) sum += in[place] * out[place + lag];
      if (sum > best) {
        best = sum;
        delay = lag;
      }
    }
  }
};

bool vg_webrtc_is_built() { return true; }

vg_webrtc *vg_webrtc_create(const void *maker, double rate) {
  auto create = reinterpret_cast<webrtc::AudioProcessing *(*)()>(const_cast<void *>(maker));
  webrtc::AudioProcessing *measured = create();
  if (!measured) return nullptr;
  vg_webrtc trial(measured, static_cast<int>(rate));
  trial.measure();
  webrtc::AudioProcessing *made = create();
  if (!made) return nullptr;
  auto *result = new vg_webrtc(made, static_cast<int>(rate));
  result->delay = trial.delay;
  return result;
}

void vg_webrtc_destroy(vg_webrtc *webrtc) { delete webrtc; }
int vg_webrtc_frame(const vg_webrtc *webrtc) { return webrtc->frame; }
int vg_webrtc_delay(const vg_webrtc *webrtc) { return webrtc->delay; }

void vg_webrtc_process(
    vg_webrtc *webrtc, const float *heard, const float *played, float *given, const vg_echo_tuning *tuning,
    vg_echo_measures *measures) {
  int frame = webrtc->frame;
  webrtc->set(*tuning);
  webrtc->quiet = mean_square(played, frame) > 1e-7f ? 0 : webrtc->quiet + 1;
  *measures = {};
  for (int place = 0; place < frame; place++) measures->clipped += std::fabs(heard[place]) >= 0.999f;
  float power = mean_square(heard, frame);
  if (!webrtc->run(heard, played, given)) std::fill(given, given + frame, 0.0f);
  vg_speech_level_process(&webrtc->level, given, frame, 0.01f, tuning->target, 0, webrtc->quiet > 25);
  // About a frame late.
  measures->heard = webrtc->last_power;
  webrtc->last_power = power;
  measures->given = mean_square(given, frame);
  measures->is_far = webrtc->quiet < 25;
  measures->is_learnt = measures->is_far && measures->given < 0.1f * measures->heard;
}

#else

bool vg_webrtc_is_built() { return false; }
vg_webrtc *vg_webrtc_create(const void *, double) { return nullptr; }
void vg_webrtc_destroy(vg_webrtc *) {}
int vg_webrtc_frame(const vg_webrtc *) { return 1; }
int vg_webrtc_delay(const vg_webrtc *) { return 0; }
void vg_webrtc_process(
    vg_webrtc *, const float *, const float *, float *, const vg_echo_tuning *, vg_echo_measures *) {}

#endif
