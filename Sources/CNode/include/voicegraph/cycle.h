/* SPDX-License-Identifier: Apache-2.0
 *
 * What a processor sees of one block. Part of <voicegraph/node.h>. */
#ifndef VOICEGRAPH_CYCLE_H
#define VOICEGRAPH_CYCLE_H

#include <string.h>
#include "values.h"

/* ---- the audio thread's view -------------------------------------------- */

/* A parameter in this block: frame i has `value` while i <= start, then `value + step * (i - start)` for `frames` frames,
 * `target` after that. A steady parameter has frames == 0 and value == target. One that is a trigger, and was set, has
 * frames == length == UINT32_MAX in that block: `value` holds for all of it, `target` is its default. Never grows. */
typedef struct vg_ramp {
  float value, step, target;
  uint32_t frames; /* of the movement, counted from `start`; it may go on in later blocks */
  uint32_t start;  /* frame of this block at which the movement begins */
  uint32_t length; /* frames that the movement takes in all; as many as `frames` in the block in which it begins. 0: it
                    * follows a control, or there is none */
} vg_ramp;

typedef struct vg_midi_event {
  uint32_t frame;  /* offset in the block, ascending */
  uint32_t size;   /* bytes */
  uint32_t offset; /* of the first byte in vg_midi.bytes */
} vg_midi_event;

/* The MIDI events of one block. A full buffer counts in `dropped`. */
typedef struct vg_midi {
  uint32_t count, capacity, used, byte_capacity, dropped;
  vg_midi_event *events;
  uint8_t *bytes;
} vg_midi;

typedef enum vg_notice_kind { VG_NOTICE_LOG = 0, VG_NOTICE_EVENT = 1, VG_NOTICE_LATENCY = 2 } vg_notice_kind;

/* What a processor tells the rest of the program from the audio thread. `text`
 * must be a string with static lifetime: the line of a log, or the name of an event. Never grows. */
typedef struct vg_notice {
  uint32_t node;
  vg_notice_kind kind;
  const char *text;
  double value;
  uint64_t position;
} vg_notice;

typedef struct vg_notice_sink {
  void *handle;
  /* False: the ring was full, the loss is counted. [audio] */
  bool (*push)(void *handle, const vg_notice *notice);
} vg_notice_sink;

/* A node's connections; pointers hold for one call of process. Audio buffers
 * have `vg_cycle.frames` samples. An input without a link reads zeros. An
 * output may share its buffer with an input only if the type says VG_IN_PLACE. */
typedef struct vg_io {
  uint32_t size; /* of this struct, as the host knows it */
  float *const *audio_in;
  float *const *audio_out;
  const uint8_t *const *audio_in_silent; /* 1: this block is known to be all zeros */
  uint8_t *const *audio_out_silent;      /* set to 1 after writing all zeros; 0 at entry */
  float *const *control_in;
  float *const *control_out;
  vg_midi *const *midi_in;
  vg_midi *const *midi_out;              /* emptied before the call */
  const vg_ramp *parameters;
  const vg_notice_sink *notices;
  uint32_t audio_in_count, audio_out_count;
  uint32_t node; /* for vg_notice.node */
} vg_io;

typedef struct vg_transport {
  bool rolling;
  uint64_t frame;
  double bpm, beat; /* beat: since the start; bpm 0: unknown */
  double beats_per_bar, beat_type;
} vg_transport;

enum {
  VG_CYCLE_OFFLINE = 1u << 0, /* time is driven by the caller: quality before speed */
  /* The server calls as fast as all its programs go, and waits for each: a
   * processor may wait, for a bounded time, for what it reads or writes. */
  VG_CYCLE_FREEWHEEL = 1u << 1,
};

typedef struct vg_cycle {
  uint32_t size; /* of this struct, as the host knows it */
  uint32_t frames; /* of this block; at most vg_preparation.max_block, may vary */
  uint32_t flags;
  double rate;       /* Hz */
  uint64_t position; /* frames processed before this block: never jumps */
  uint64_t clock;    /* the driver's frame time: jumps with xruns */
  vg_transport transport;
  /* As long as it is the same, no parameter moves and every audio buffer of a
   * vg_io stays where it was, in this engine's latest schedule. 0: unknown. */
  uint64_t revision;
  /* Frames of the driver's time that were lost just before this block, because
   * somebody was too late; not those of a pause, or while there was no server. */
  uint32_t skipped;
} vg_cycle;

/* [audio] */
typedef void (*vg_process_function)(void *VG_NONNULL processor, const vg_io *VG_NONNULL io, const vg_cycle *VG_NONNULL cycle);

/* ---- helpers for processors --------------------------------------------- */

/* The parameter's value at frame `i` of this block. [audio] */
VG_AUDIO static inline float vg_ramp_at(const vg_ramp *VG_NONNULL ramp, uint32_t i) {
  uint32_t moved = i > ramp->start ? i - ramp->start : 0;
  return moved < ramp->frames ? ramp->value + ramp->step * (float)moved : ramp->target;
}

/* Appends an event; events must come in ascending order. False: full, counted. [audio] */
VG_AUDIO static inline bool vg_midi_write(vg_midi *VG_NONNULL midi, uint32_t frame, const uint8_t *VG_NONNULL data, uint32_t size) {
  if (midi->count >= midi->capacity || size > midi->byte_capacity - midi->used) {
    midi->dropped++;
    return false;
  }
  vg_midi_event *event = &midi->events[midi->count++];
  event->frame = frame;
  event->size = size;
  event->offset = midi->used;
  memcpy(midi->bytes + midi->used, data, size);
  midi->used += size;
  return true;
}

/* Sends a notice; see vg_notice. [audio] */
VG_AUDIO static inline bool vg_notice_push(const vg_io *VG_NONNULL io, vg_notice_kind kind, const char *text, double value, uint64_t position) {
  if (!io->notices || !io->notices->push) return false;
  vg_notice notice = {io->node, kind, text, value, position};
  return io->notices->push(io->notices->handle, &notice);
}

/* Calls a process function: the one place where an unknown function runs on
 * the audio thread. [audio] */
VG_AUDIO static inline void vg_call_process(vg_process_function VG_NONNULL function, void *VG_NONNULL processor, const vg_io *VG_NONNULL io, const vg_cycle *VG_NONNULL cycle) {
  function(processor, io, cycle);
}

#endif
