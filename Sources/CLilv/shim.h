/* SPDX-License-Identifier: Apache-2.0
 *
 * lilv and the LV2 headers for Swift. Swift cannot see macros that join string
 * literals, call variadic functions or prove anything about a plugin's code;
 * this file gives it constants, wrappers and the word that a call is meant for
 * the audio thread.
 *
 * Thread tags: see voicegraph/node.h. */
#ifndef VOICEGRAPH_LILV_H
#define VOICEGRAPH_LILV_H

#include <lilv/lilv.h>
#include <lv2/atom/atom.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/core/lv2.h>
#include <lv2/event/event.h>
#include <lv2/log/log.h>
#include <lv2/midi/midi.h>
#include <lv2/options/options.h>
#include <lv2/parameters/parameters.h>
#include <lv2/patch/patch.h>
#include <lv2/port-groups/port-groups.h>
#include <lv2/port-props/port-props.h>
#include <lv2/presets/presets.h>
#include <lv2/resize-port/resize-port.h>
#include <lv2/state/state.h>
#include <lv2/time/time.h>
#include <lv2/units/units.h>
#include <lv2/uri-map/uri-map.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "uris.h"

#define VG_LV2_AUDIO __attribute__((swift_attr("@_noLocks")))

/* ---- a plugin's functions, called on the audio thread ------------------- */

/* What the audio thread calls of a plugin. */
typedef struct vg_lv2_code {
  LV2_Handle _Nonnull handle;
  void (*_Nonnull run)(LV2_Handle _Nonnull, uint32_t);
  void (*_Nonnull connect_port)(LV2_Handle _Nonnull, uint32_t, void *_Nullable);
} vg_lv2_code;

/* Reads a descriptor. False: it lacks a function that every plugin has. [control] */
static inline bool vg_lv2_code_of(const LilvInstance *_Nonnull instance, vg_lv2_code *_Nonnull code) {
  const LV2_Descriptor *d = instance->lv2_descriptor;
  if (!d || !instance->lv2_handle || !d->run || !d->connect_port) return false;
  code->handle = instance->lv2_handle;
  code->run = d->run;
  code->connect_port = d->connect_port;
  return true;
}

/* [audio] */
VG_LV2_AUDIO static inline void vg_lv2_run(const vg_lv2_code *_Nonnull code, uint32_t frames) {
  code->run(code->handle, frames);
}

/* [audio] */
VG_LV2_AUDIO static inline void vg_lv2_connect(const vg_lv2_code *_Nonnull code, uint32_t port, void *_Nullable memory) {
  code->connect_port(code->handle, port, memory);
}

/* Hands one worker response to the plugin. [audio] */
VG_LV2_AUDIO static inline void vg_lv2_work_response(
    const LV2_Worker_Interface *_Nonnull worker, LV2_Handle _Nonnull handle, uint32_t size, const void *_Nullable body) {
  if (worker->work_response) worker->work_response(handle, size, body);
}

/* Tells the plugin that this cycle's responses are through. [audio] */
VG_LV2_AUDIO static inline void vg_lv2_end_run(const LV2_Worker_Interface *_Nonnull worker, LV2_Handle _Nonnull handle) {
  if (worker->end_run) worker->end_run(handle);
}

/* Wakes a sleeping worker; with a free semaphore it is one system call at most
 * and never waits. [audio] */
VG_LV2_AUDIO static inline void vg_lv2_wake(sem_t *_Nonnull semaphore) { sem_post(semaphore); }

/* A number that the audio thread writes at any time: a word is read whole, and
 * one that is a block old does as well. [any] */
__attribute__((no_sanitize("thread"))) static inline float vg_lv2_peek(const volatile float *_Nonnull value) {
  return *value;
}

/* The calling thread; never 0. [audio] and every other thread */
VG_LV2_AUDIO static inline uintptr_t vg_lv2_thread(void) { return (uintptr_t)pthread_self(); }

/* ---- what LV2 had before atoms -------------------------------------------- */

/* The layout of LV2_Event_Buffer and of LV2_Event_Feature; LV2's own names are
 * marked as deprecated, though a plugin that needs them is still installed. */
typedef struct vg_lv2_event_buffer {
  uint8_t *_Nullable data;
  uint16_t header_size, stamp_type;
  uint32_t event_count, capacity, size;
} vg_lv2_event_buffer;

typedef struct vg_lv2_event_feature {
  void *_Nullable handle;
  uint32_t (*_Nonnull ref)(void *_Nullable handle, void *_Nullable event);
  uint32_t (*_Nonnull unref)(void *_Nullable handle, void *_Nullable event);
} vg_lv2_event_feature;

/* The layout of LV2_URI_Map_Feature. */
typedef struct vg_lv2_uri_map {
  void *_Nullable handle;
  uint32_t (*_Nonnull uri_to_id)(void *_Nullable handle, const char *_Nullable map, const char *_Nullable uri);
} vg_lv2_uri_map;

/* ---- log:log: printf-like functions exist in C only ---------------------- */

/* Takes a finished line, not NUL-terminated. [audio] and every other thread. */
typedef void (*vg_lv2_log_write)(void *_Nonnull handle, LV2_URID type, const char *_Nonnull text, uint32_t length);

/* The log feature with what its functions need. */
typedef struct vg_lv2_log {
  LV2_Log_Log feature; /* first: its handle is this struct */
  vg_lv2_log_write _Nonnull write;
  void *_Nonnull handle;
} vg_lv2_log;

static inline int vg_lv2_log_vprintf(LV2_Log_Handle _Nonnull handle, LV2_URID type, const char *_Nonnull format, va_list arguments) {
  vg_lv2_log *log = (vg_lv2_log *)handle;
  char line[256];
  int length = vsnprintf(line, sizeof line, format, arguments);
  if (length < 0) return length;
  log->write(log->handle, type, line, (uint32_t)(length < (int)sizeof line ? length : (int)sizeof line - 1));
  return length;
}

static inline int vg_lv2_log_printf(LV2_Log_Handle _Nonnull handle, LV2_URID type, const char *_Nonnull format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vg_lv2_log_vprintf(handle, type, format, arguments);
  va_end(arguments);
  return length;
}

/* Fills the feature's functions. [control] */
static inline void vg_lv2_log_init(vg_lv2_log *_Nonnull log, vg_lv2_log_write _Nonnull write, void *_Nonnull handle) {
  log->feature.handle = log;
  log->feature.printf = vg_lv2_log_printf;
  log->feature.vprintf = vg_lv2_log_vprintf;
  log->write = write;
  log->handle = handle;
}

/* ---- memory on the audio thread ------------------------------------------ */

/* [audio] */
VG_LV2_AUDIO static inline void vg_lv2_copy(void *_Nonnull to, const void *_Nonnull from, size_t bytes) {
  memcpy(to, from, bytes);
}

#endif
