/* SPDX-License-Identifier: Apache-2.0 */
/* What is used of PocketSphinx (version 5prealpha, libpocketsphinx.so.3 and libsphinxbase.so.3), which is loaded at run
 * time: its functions as their types, and what a caller in Swift cannot do itself. None of this is for an audio thread. */
#ifndef VG_POCKETSPHINX_H
#define VG_POCKETSPHINX_H

#include <stddef.h>
#include <stdint.h>

enum { VG_SPHINX_MESSAGE = 256 };

typedef struct ps_decoder_s ps_decoder_t;
typedef struct ps_seg_s ps_seg_t;
typedef struct cmd_ln_s cmd_ln_t;
typedef struct logmath_s logmath_t;

/* Addresses of the functions, by the names that they have in the libraries. Those that take a decoder or a segment are
 * for one thread at a time. */
typedef struct {
  const void *_Nullable (*_Nullable ps_args)(void);
  ps_decoder_t *_Nullable (*_Nullable ps_init)(cmd_ln_t *_Nonnull configuration);
  int (*_Nullable ps_free)(ps_decoder_t *_Nonnull decoder);
  /* Times of segments count from here on, in frames of 10 ms. */
  int (*_Nullable ps_start_stream)(ps_decoder_t *_Nonnull decoder);
  int (*_Nullable ps_start_utt)(ps_decoder_t *_Nonnull decoder);
  int (*_Nullable ps_process_raw)(
      ps_decoder_t *_Nonnull decoder, const int16_t *_Nullable samples, size_t count, int no_search, int whole);
  int (*_Nullable ps_end_utt)(ps_decoder_t *_Nonnull decoder);
  const char *_Nullable (*_Nullable ps_get_hyp)(ps_decoder_t *_Nonnull decoder, int32_t *_Nullable score);
  logmath_t *_Nullable (*_Nullable ps_get_logmath)(ps_decoder_t *_Nonnull decoder);
  ps_seg_t *_Nullable (*_Nullable ps_seg_iter)(ps_decoder_t *_Nonnull decoder);
  /* The next one; frees what it was given at the end. */
  ps_seg_t *_Nullable (*_Nullable ps_seg_next)(ps_seg_t *_Nonnull segment);
  const char *_Nullable (*_Nullable ps_seg_word)(ps_seg_t *_Nonnull segment);
  void (*_Nullable ps_seg_frames)(ps_seg_t *_Nonnull segment, int *_Nonnull first, int *_Nonnull last);
  int32_t (*_Nullable ps_seg_prob)(
      ps_seg_t *_Nonnull segment, int32_t *_Nullable acoustic, int32_t *_Nullable language, int32_t *_Nullable back);
  cmd_ln_t *_Nullable (*_Nullable cmd_ln_parse_r)(
      cmd_ln_t *_Nullable before, const void *_Nonnull known, int32_t count, char *_Nullable *_Nonnull arguments,
      int32_t strict);
  int (*_Nullable cmd_ln_free_r)(cmd_ln_t *_Nonnull configuration);
  double (*_Nullable logmath_exp)(logmath_t *_Nonnull logarithms, int32_t value);
  void (*_Nullable err_set_logfp)(void *_Nullable file);
  /* Takes a function (user, level, format, ...), of a type that Swift cannot name. */
  void (*_Nullable err_set_callback)(void *_Nullable callback, void *_Nullable user);
} vg_pocketsphinx;

/* From now on the library's messages of this thread go nowhere, but the first error, which is kept. The library has one
 * such function for each thread, or one for all, by its version. */
void vg_pocketsphinx_listen(const vg_pocketsphinx *_Nonnull library);
/* The first error that was told on this thread, and forgets it; empty: none. */
void vg_pocketsphinx_error(char *_Nonnull text);

/* A file in memory with this content, at its beginning; -1: there is no room. */
int vg_memory_file(const void *_Nullable bytes, size_t size);

#endif
