/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "onnx.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The version of the API that is asked for: each newer library knows it too. */
enum { API_VERSION = 11 };

/* Places in the table of functions. */
enum {
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  CREATE_SESSION_FROM_ARRAY = 8,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_COPY_PATH = 11,
  SET_LOG_SEVERITY = 22,
  SET_OPTIMIZATION = 23,
  SET_INTRA_OP_THREADS = 24,
  SET_INTER_OP_THREADS = 25,
  INPUT_COUNT = 30,
  OUTPUT_COUNT = 31,
  INPUT_NAME = 36,
  OUTPUT_NAME = 37,
  CREATE_TENSOR = 48,
  TENSOR_DATA = 51,
  ELEMENT_TYPE = 60,
  DIMENSIONS_COUNT = 61,
  DIMENSIONS = 62,
  ELEMENT_COUNT = 64,
  TYPE_AND_SHAPE = 65,
  ALLOCATOR_FREE = 76,
  DEFAULT_ALLOCATOR = 78,
  RELEASE_STATUS = 93,
  RELEASE_SESSION = 95,
  RELEASE_VALUE = 96,
  RELEASE_SHAPE = 99,
  RELEASE_SESSION_OPTIONS = 100,
  ADD_SESSION_CONFIG_ENTRY = 130,
};

/* On x86-64 processors without VNNI (AVX2 alone, say) sums of products of 8-bit numbers overflow unless this is set: a
   quantized model then says something else there. Elsewhere it changes nothing. */
static const char *const EXACT_PRODUCTS = "session.x64quantprecision";

/* Constants are not copied into the order in which products of matrices like them best. */
static const char *const CONSTANTS_STAY = "session.disable_prepacking";
static const char *const COPY_FORMAT = "session.save_model_format";
static const char *const CONSTANTS_FILE = "session.optimized_model_external_initializers_file_name";
/* Smaller ones stay in the copy: some are looked at while it is read. */
static const char *const CONSTANTS_LEAST = "session.optimized_model_external_initializers_min_size_in_bytes";

/* OPTIMIZE_PORTABLY leaves out what is for one kind of processor. */
enum { LOG_FATAL_ONLY = 4, CPU_THREADS_BETWEEN = 1, OPTIMIZE_NOTHING = 0, OPTIMIZE_PORTABLY = 2 };

typedef void status; /* OrtStatus */
typedef void (*function)(void);

struct vg_onnx {
  const function *table;
  const char *version;
  void *environment;
  void *allocator;
};
struct vg_onnx_session {
  vg_onnx *onnx;
  void *session;
};

typedef struct {
  const function *(*get)(uint32_t version);
  const char *(*version)(void);
} api_base;

#define CALL(onnx, place, type) ((type)(onnx)->table[place])

/* Whether a call went well; the status is released. */
static bool fine(const vg_onnx *onnx, status *result, char *error) {
  if (!result) return true;
  if (error) {
    snprintf(error, VG_ONNX_ERROR, "%s", CALL(onnx, GET_ERROR_MESSAGE, const char *(*)(const status *))(result));
    /* Messages go on with lines about the library's own source. */
    error[strcspn(error, "\n")] = 0;
  }
  CALL(onnx, RELEASE_STATUS, void (*)(status *))(result);
  return false;
}

vg_onnx *vg_onnx_open(const void *address, const char *path, char *error) {
  const api_base *(*base)(void) = (const api_base *(*)(void))address;
  const function *table = base ? base()->get(API_VERSION) : NULL;
  if (!table) {
    snprintf(error, VG_ONNX_ERROR, "%s is no ONNX Runtime, or one from before 1.11", path);
    return NULL;
  }
  vg_onnx *onnx = calloc(1, sizeof *onnx);
  if (!onnx) return NULL;
  onnx->table = table;
  onnx->version = base()->version();
  if (fine(onnx, CALL(onnx, CREATE_ENV, status *(*)(int, const char *, void **))(LOG_FATAL_ONLY, "voicegraph", &onnx->environment), error) &&
      fine(onnx, CALL(onnx, DEFAULT_ALLOCATOR, status *(*)(void **))(&onnx->allocator), error))
    return onnx;
  free(onnx);
  return NULL;
}

const char *vg_onnx_version(const vg_onnx *onnx) { return onnx->version; }

static bool entry(const vg_onnx *onnx, void *options, const char *key, const char *value, char *error) {
  return fine(onnx, CALL(onnx, ADD_SESSION_CONFIG_ENTRY, status *(*)(void *, const char *, const char *))(options, key, value), error);
}

/* Sets a number of the options of a session. */
static bool number(const vg_onnx *onnx, void *options, int place, int value, char *error) {
  return fine(onnx, CALL(onnx, place, status *(*)(void *, int))(options, value), error);
}

static bool set_up(const vg_onnx *onnx, void *options, vg_onnx_options how, char *error) {
  if (!number(onnx, options, SET_INTRA_OP_THREADS, how.threads, error) ||
      !number(onnx, options, SET_INTER_OP_THREADS, CPU_THREADS_BETWEEN, error) ||
      !number(onnx, options, SET_LOG_SEVERITY, LOG_FATAL_ONLY, error))
    return false;
  if (how.exact && !entry(onnx, options, EXACT_PRODUCTS, "1", error)) return false;
  if (how.as_is &&
      (!number(onnx, options, SET_OPTIMIZATION, OPTIMIZE_NOTHING, error) || !entry(onnx, options, CONSTANTS_STAY, "1", error)))
    return false;
  if (!how.copy) return true;
  return (how.as_is || number(onnx, options, SET_OPTIMIZATION, OPTIMIZE_PORTABLY, error)) &&
         fine(onnx, CALL(onnx, SET_COPY_PATH, status *(*)(void *, const char *))(options, how.copy), error) &&
         entry(onnx, options, COPY_FORMAT, "ONNX", error) &&
         (!how.constants ||
          (entry(onnx, options, CONSTANTS_FILE, how.constants, error) && entry(onnx, options, CONSTANTS_LEAST, "4096", error)));
}

vg_onnx_session *vg_onnx_read(vg_onnx *onnx, const char *path, const void *data, size_t size, vg_onnx_options how, char *error) {
  void *options = NULL, *session = NULL;
  if (!fine(onnx, CALL(onnx, CREATE_SESSION_OPTIONS, status *(*)(void **))(&options), error)) return NULL;
  bool made = set_up(onnx, options, how, error) &&
              fine(onnx,
                   data ? CALL(onnx, CREATE_SESSION_FROM_ARRAY, status *(*)(void *, const void *, size_t, const void *, void **))(onnx->environment, data, size, options, &session)
                        : CALL(onnx, CREATE_SESSION, status *(*)(void *, const char *, const void *, void **))(onnx->environment, path, options, &session),
                   error);
  CALL(onnx, RELEASE_SESSION_OPTIONS, void (*)(void *))(options);
  if (!made) return NULL;
  vg_onnx_session *result = malloc(sizeof *result);
  if (result) *result = (vg_onnx_session){onnx, session};
  return result;
}

void vg_onnx_close(vg_onnx_session *session) {
  CALL(session->onnx, RELEASE_SESSION, void (*)(void *))(session->session);
  free(session);
}

void vg_onnx_shrink_heap(void) { malloc_trim(0); }

size_t vg_onnx_count(const vg_onnx_session *session, bool outputs) {
  size_t count = 0;
  fine(session->onnx, CALL(session->onnx, outputs ? OUTPUT_COUNT : INPUT_COUNT, status *(*)(const void *, size_t *))(session->session, &count), NULL);
  return count;
}

char *vg_onnx_name(const vg_onnx_session *session, bool outputs, size_t index) {
  vg_onnx *onnx = session->onnx;
  char *name = NULL;
  if (!fine(onnx, CALL(onnx, outputs ? OUTPUT_NAME : INPUT_NAME, status *(*)(const void *, size_t, void *, char **))(session->session, index, onnx->allocator, &name), NULL))
    return NULL;
  char *copy = strdup(name);
  fine(onnx, CALL(onnx, ALLOCATOR_FREE, status *(*)(void *, void *))(onnx->allocator, name), NULL);
  return copy;
}

static size_t element_size(vg_onnx_type type) {
  switch (type) {
    case VG_ONNX_FLOAT: return 4;
    case VG_ONNX_INT64: return 8;
    case VG_ONNX_BOOL: return 1;
  }
  return 0;
}

vg_onnx_value *vg_onnx_make(vg_onnx *onnx, vg_onnx_type type, const int64_t *shape, size_t rank, const void *data, size_t bytes) {
  size_t wanted = element_size(type);
  for (size_t i = 0; i < rank; i++) {
    if (shape[i] < 0 || (shape[i] > 0 && wanted > SIZE_MAX / (size_t)shape[i])) return NULL;
    wanted *= (size_t)shape[i];
  }
  if (wanted != bytes) return NULL;
  void *value = NULL, *target = NULL;
  if (!fine(onnx, CALL(onnx, CREATE_TENSOR, status *(*)(void *, const int64_t *, size_t, int, void **))(onnx->allocator, shape, rank, type, &value), NULL)) return NULL;
  if (!fine(onnx, CALL(onnx, TENSOR_DATA, status *(*)(void *, void **))(value, &target), NULL)) {
    vg_onnx_free(onnx, value);
    return NULL;
  }
  if (bytes) memcpy(target, data, bytes);
  return value;
}

void vg_onnx_free(vg_onnx *onnx, vg_onnx_value *value) { CALL(onnx, RELEASE_VALUE, void (*)(void *))(value); }

const void *vg_onnx_elements(vg_onnx *onnx, vg_onnx_value *value, vg_onnx_type type, size_t *count, int64_t *shape, size_t *rank) {
  void *info = NULL, *data = NULL;
  int found = 0;
  size_t length = 0;
  if (!fine(onnx, CALL(onnx, TYPE_AND_SHAPE, status *(*)(const void *, void **))(value, &info), NULL)) return NULL;
  bool read = fine(onnx, CALL(onnx, ELEMENT_TYPE, status *(*)(const void *, int *))(info, &found), NULL) && found == (int)type &&
              fine(onnx, CALL(onnx, DIMENSIONS_COUNT, status *(*)(const void *, size_t *))(info, &length), NULL) && length <= *rank &&
              fine(onnx, CALL(onnx, DIMENSIONS, status *(*)(const void *, int64_t *, size_t))(info, shape, length), NULL) &&
              fine(onnx, CALL(onnx, ELEMENT_COUNT, status *(*)(const void *, size_t *))(info, count), NULL) &&
              fine(onnx, CALL(onnx, TENSOR_DATA, status *(*)(void *, void **))(value, &data), NULL);
  CALL(onnx, RELEASE_SHAPE, void (*)(void *))(info);
  *rank = length;
  return read ? data : NULL;
}

bool vg_onnx_run(vg_onnx_session *session, const char *const *input_names, const vg_onnx_value *const *inputs, size_t input_count,
                 const char *const *output_names, size_t output_count, vg_onnx_value **outputs, char *error) {
  for (size_t i = 0; i < output_count; i++) outputs[i] = NULL;
  vg_onnx *onnx = session->onnx;
  return fine(onnx,
              CALL(onnx, RUN, status *(*)(void *, const void *, const char *const *, const void *const *, size_t, const char *const *, size_t, void **))(
                  session->session, NULL, input_names, (const void *const *)inputs, input_count, output_names, output_count, (void **)outputs),
              error);
}
