/* SPDX-License-Identifier: Apache-2.0 */
/* What is used of sherpa-onnx, which is loaded at run time: the structs of its C API as version 2.0.1 has them, with their
 * fields in its order, and functions (k2-fsa.github.io/sherpa/onnx, c-api.h). Another version has other structs. What a
 * struct does not give is 0. None of this is for an audio thread. */
#ifndef VG_SHERPA_H
#define VG_SHERPA_H

#include <stdint.h>

typedef struct vg_sherpa_transducer {
  const char *_Nullable encoder;
  const char *_Nullable decoder;
  const char *_Nullable joiner;
} vg_sherpa_transducer;

typedef struct vg_sherpa_pair {
  const char *_Nullable encoder;
  const char *_Nullable decoder;
} vg_sherpa_pair;

/* A model of one file. */
typedef struct vg_sherpa_single {
  const char *_Nullable model;
} vg_sherpa_single;

typedef struct vg_sherpa_features {
  int32_t sample_rate;
  int32_t feature_dim;
} vg_sherpa_features;

typedef struct vg_sherpa_fst {
  const char *_Nullable graph;
  int32_t max_active;
} vg_sherpa_fst;

typedef struct vg_sherpa_homophones {
  const char *_Nullable dict_dir;
  const char *_Nullable lexicon;
  const char *_Nullable rule_fsts;
} vg_sherpa_homophones;

typedef struct vg_sherpa_whisper {
  const char *_Nullable encoder;
  const char *_Nullable decoder;
  const char *_Nullable language;
  const char *_Nullable task;
  int32_t tail_paddings;
  int32_t enable_token_timestamps;
  int32_t enable_segment_timestamps;
} vg_sherpa_whisper;

typedef struct vg_sherpa_canary {
  const char *_Nullable encoder;
  const char *_Nullable decoder;
  const char *_Nullable src_lang;
  const char *_Nullable tgt_lang;
  int32_t use_pnc;
} vg_sherpa_canary;

typedef struct vg_sherpa_cohere {
  const char *_Nullable encoder;
  const char *_Nullable decoder;
  const char *_Nullable language;
  int32_t use_punct;
  int32_t use_itn;
} vg_sherpa_cohere;

typedef struct vg_sherpa_moonshine {
  const char *_Nullable preprocessor;
  const char *_Nullable encoder;
  const char *_Nullable uncached_decoder;
  const char *_Nullable cached_decoder;
  const char *_Nullable merged_decoder;
} vg_sherpa_moonshine;

typedef struct vg_sherpa_sense_voice {
  const char *_Nullable model;
  const char *_Nullable language;
  int32_t use_itn;
} vg_sherpa_sense_voice;

typedef struct vg_sherpa_language_model {
  const char *_Nullable model;
  float scale;
} vg_sherpa_language_model;

typedef struct vg_sherpa_funasr {
  const char *_Nullable encoder_adaptor;
  const char *_Nullable llm;
  const char *_Nullable embedding;
  const char *_Nullable tokenizer;
  const char *_Nullable system_prompt;
  const char *_Nullable user_prompt;
  int32_t max_new_tokens;
  float temperature;
  float top_p;
  int32_t seed;
  const char *_Nullable language;
  int32_t itn;
  const char *_Nullable hotwords;
} vg_sherpa_funasr;

typedef struct vg_sherpa_qwen3 {
  const char *_Nullable conv_frontend;
  const char *_Nullable encoder;
  const char *_Nullable decoder;
  const char *_Nullable tokenizer;
  int32_t max_total_len;
  int32_t max_new_tokens;
  float temperature;
  float top_p;
  int32_t seed;
  const char *_Nullable hotwords;
} vg_sherpa_qwen3;

/* Models that hear a segment as a whole: one of them is given. */
typedef struct vg_sherpa_offline_model {
  vg_sherpa_transducer transducer;
  vg_sherpa_single paraformer;
  vg_sherpa_single nemo_ctc;
  vg_sherpa_whisper whisper;
  vg_sherpa_single tdnn;
  const char *_Nullable tokens;
  int32_t num_threads;
  int32_t debug;
  const char *_Nullable provider;
  const char *_Nullable model_type;
  const char *_Nullable modeling_unit;
  const char *_Nullable bpe_vocab;
  const char *_Nullable telespeech_ctc;
  vg_sherpa_sense_voice sense_voice;
  vg_sherpa_moonshine moonshine;
  vg_sherpa_pair fire_red_asr;
  vg_sherpa_single dolphin;
  vg_sherpa_single zipformer_ctc;
  vg_sherpa_canary canary;
  vg_sherpa_single wenet_ctc;
  vg_sherpa_single omnilingual;
  vg_sherpa_single medasr;
  vg_sherpa_funasr funasr_nano;
  vg_sherpa_single fire_red_asr_ctc;
  vg_sherpa_qwen3 qwen3_asr;
  vg_sherpa_cohere cohere_transcribe;
} vg_sherpa_offline_model;

typedef struct vg_sherpa_offline_config {
  vg_sherpa_features feat_config;
  vg_sherpa_offline_model model_config;
  vg_sherpa_language_model lm_config;
  const char *_Nullable decoding_method;
  int32_t max_active_paths;
  const char *_Nullable hotwords_file;
  float hotwords_score;
  const char *_Nullable rule_fsts;
  const char *_Nullable rule_fars;
  float blank_penalty;
  vg_sherpa_homophones hr;
  vg_sherpa_fst ctc_fst_decoder_config;
} vg_sherpa_offline_config;

/* Models that hear as it comes: one of them is given. */
typedef struct vg_sherpa_online_model {
  vg_sherpa_transducer transducer;
  vg_sherpa_pair paraformer;
  vg_sherpa_single zipformer2_ctc;
  const char *_Nullable tokens;
  int32_t num_threads;
  const char *_Nullable provider;
  int32_t debug;
  const char *_Nullable model_type;
  const char *_Nullable modeling_unit;
  const char *_Nullable bpe_vocab;
  const char *_Nullable tokens_buf;
  int32_t tokens_buf_size;
  vg_sherpa_single nemo_ctc;
  vg_sherpa_single t_one_ctc;
} vg_sherpa_online_model;

typedef struct vg_sherpa_online_config {
  vg_sherpa_features feat_config;
  vg_sherpa_online_model model_config;
  const char *_Nullable decoding_method;
  int32_t max_active_paths;
  int32_t enable_endpoint;
  float rule1_min_trailing_silence;
  float rule2_min_trailing_silence;
  float rule3_min_utterance_length;
  const char *_Nullable hotwords_file;
  float hotwords_score;
  vg_sherpa_fst ctc_fst_decoder_config;
  const char *_Nullable rule_fsts;
  const char *_Nullable rule_fars;
  float blank_penalty;
  const char *_Nullable hotwords_buf;
  int32_t hotwords_buf_size;
  vg_sherpa_homophones hr;
} vg_sherpa_online_config;

/* Of a segment; more follows in the library's own. `timestamps`: seconds, for each token; NULL: they are not known. */
typedef struct vg_sherpa_offline_result {
  const char *_Nullable text;
  const float *_Nullable timestamps;
  int32_t count;
  const char *_Nullable tokens;
  const char *_Nonnull const *_Nullable tokens_arr;
  const char *_Nullable json, *_Nullable lang, *_Nullable emotion, *_Nullable event;
  const float *_Nullable durations;
} vg_sherpa_offline_result;

typedef struct vg_sherpa_online_result {
  const char *_Nullable text;
  const char *_Nullable tokens;
  const char *_Nonnull const *_Nullable tokens_arr;
  const float *_Nullable timestamps;
  int32_t count;
  const char *_Nullable json;
} vg_sherpa_online_result;

/* Its functions, by their own names. */
typedef struct vg_sherpa {
  const char *_Nullable (*_Nullable SherpaOnnxGetVersionStr)(void);
  const void *_Nullable (*_Nullable SherpaOnnxCreateOfflineRecognizer)(const vg_sherpa_offline_config *_Nonnull config);
  void (*_Nullable SherpaOnnxDestroyOfflineRecognizer)(const void *_Nonnull recognizer);
  const void *_Nullable (*_Nullable SherpaOnnxCreateOfflineStream)(const void *_Nonnull recognizer);
  void (*_Nullable SherpaOnnxDestroyOfflineStream)(const void *_Nonnull stream);
  void (*_Nullable SherpaOnnxAcceptWaveformOffline)(const void *_Nonnull stream, int32_t rate, const float *_Nonnull samples,
                                                     int32_t count);
  void (*_Nullable SherpaOnnxDecodeOfflineStream)(const void *_Nonnull recognizer, const void *_Nonnull stream);
  const vg_sherpa_offline_result *_Nullable (*_Nullable SherpaOnnxGetOfflineStreamResult)(const void *_Nonnull stream);
  void (*_Nullable SherpaOnnxDestroyOfflineRecognizerResult)(const vg_sherpa_offline_result *_Nonnull result);
  const void *_Nullable (*_Nullable SherpaOnnxCreateOnlineRecognizer)(const vg_sherpa_online_config *_Nonnull config);
  void (*_Nullable SherpaOnnxDestroyOnlineRecognizer)(const void *_Nonnull recognizer);
  const void *_Nullable (*_Nullable SherpaOnnxCreateOnlineStream)(const void *_Nonnull recognizer);
  void (*_Nullable SherpaOnnxDestroyOnlineStream)(const void *_Nonnull stream);
  void (*_Nullable SherpaOnnxOnlineStreamAcceptWaveform)(const void *_Nonnull stream, int32_t rate,
                                                          const float *_Nonnull samples, int32_t count);
  int32_t (*_Nullable SherpaOnnxIsOnlineStreamReady)(const void *_Nonnull recognizer, const void *_Nonnull stream);
  void (*_Nullable SherpaOnnxDecodeOnlineStream)(const void *_Nonnull recognizer, const void *_Nonnull stream);
  void (*_Nullable SherpaOnnxOnlineStreamInputFinished)(const void *_Nonnull stream);
  const vg_sherpa_online_result *_Nullable (*_Nullable SherpaOnnxGetOnlineStreamResult)(const void *_Nonnull recognizer,
                                                                                         const void *_Nonnull stream);
  void (*_Nullable SherpaOnnxDestroyOnlineRecognizerResult)(const vg_sherpa_online_result *_Nonnull result);
} vg_sherpa;

#endif
