/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime, which Swift loads at run time. Of its C API (a table of functions that only grows at its end,
 * onnxruntime.ai/docs/api/c) this declares the places of the few functions that are used. None of this is for an audio
 * thread. Where a call can fail, `error` takes a text of at most VG_ONNX_ERROR bytes. */
#ifndef VG_ONNX_H
#define VG_ONNX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VG_ONNX_ERROR = 512 };

/* A library; it stays loaded for the life of the process. */
typedef struct vg_onnx vg_onnx;
/* A model that was read. */
typedef struct vg_onnx_session vg_onnx_session;
/* A tensor. */
typedef struct vg_onnx_value vg_onnx_value;

/* Numbers of ONNXTensorElementDataType. */
typedef enum { VG_ONNX_FLOAT = 1, VG_ONNX_INT64 = 7, VG_ONNX_BOOL = 9 } vg_onnx_type;

/* The library that was loaded from `path`; `base` is its OrtGetApiBase. NULL: it has none, or is of another kind. */
vg_onnx *_Nullable vg_onnx_open(const void *_Nullable base, const char *_Nonnull path, char *_Nonnull error);
/* Its version, as in "1.28.2". */
const char *_Nonnull vg_onnx_version(const vg_onnx *_Nonnull onnx);

/* How a model is read and works. */
typedef struct {
  /* On so many threads. */
  int threads;
  /* With sums of 8-bit products that never overflow. */
  bool exact;
  /* As it lies in its files: nothing is computed ahead, and constants stay in memory that is mapped from there. */
  bool as_is;
  /* Where it is written to as it was read, in ONNX's format, with what could be computed ahead. NULL: nowhere. */
  const char *_Nullable copy;
  /* The name of a file beside the copy that takes its constants. NULL: they are in it. */
  const char *_Nullable constants;
} vg_onnx_options;

/* Reads the model at `path`, or where `data` is given from its bytes, which are copied. NULL: it cannot be read. */
vg_onnx_session *_Nullable vg_onnx_read(
    vg_onnx *_Nonnull onnx, const char *_Nonnull path, const void *_Nullable data, size_t size, vg_onnx_options how,
    char *_Nonnull error);
void vg_onnx_close(vg_onnx_session *_Nonnull session);
/* Gives the kernel back what is free in the heap, after work that took much of it. */
void vg_onnx_shrink_heap(void);
/* How many inputs or outputs a model has, and what they are called; the name is freed with `free`. */
size_t vg_onnx_count(const vg_onnx_session *_Nonnull session, bool outputs);
char *_Nullable vg_onnx_name(const vg_onnx_session *_Nonnull session, bool outputs, size_t index);

/* Makes a tensor with a copy of `data`, of `bytes`. NULL: no memory, or `bytes` is not what the shape needs. */
vg_onnx_value *_Nullable vg_onnx_make(
    vg_onnx *_Nonnull onnx, vg_onnx_type type, const int64_t *_Nullable shape, size_t rank, const void *_Nullable data,
    size_t bytes);
void vg_onnx_free(vg_onnx *_Nonnull onnx, vg_onnx_value *_Nonnull value);
/* The elements of a tensor and how many there are; its shape goes into `shape`, of which `rank` says the room, and then
 * the length. NULL: not that type. */
const void *_Nullable vg_onnx_elements(
    vg_onnx *_Nonnull onnx, vg_onnx_value *_Nonnull value, vg_onnx_type type, size_t *_Nonnull count,
    int64_t *_Nonnull shape, size_t *_Nonnull rank);

/* Computes outputs from inputs; the caller frees the outputs. False: `error` says why, and there are none. */
bool vg_onnx_run(
    vg_onnx_session *_Nonnull session, const char *_Nonnull const *_Nonnull input_names,
    const vg_onnx_value *_Nonnull const *_Nonnull inputs, size_t input_count,
    const char *_Nonnull const *_Nonnull output_names, size_t output_count, vg_onnx_value *_Nullable *_Nonnull outputs,
    char *_Nonnull error);

#endif
