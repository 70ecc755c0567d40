/* SPDX-License-Identifier: Apache-2.0
 *
 * The voicegraph node ABI: the one contract between the host and a node.
 *
 * A shared object exports `vg_plugin_entry`; it returns a vg_plugin that lists
 * node types. The host's own nodes are described by the same structs.
 *
 * Life of a node, in this order:
 *
 *   create -> [layout] -> prepare -> activate -> process* -> deactivate
 *          -> (prepare again when the rate or the block size changes) -> destroy
 *
 * Thread tags at the end of a doc:
 *   [control]  an ordinary thread; calls for one node never overlap
 *   [audio]    the realtime thread: no allocation, lock, system call or wait
 *   [worker]   a thread of the node's own
 *   [any]      every thread but [audio]
 * All strings are UTF-8 and NUL-terminated. What a descriptor points to must
 * live as long as the shared object is loaded.
 */
#ifndef VOICEGRAPH_NODE_H
#define VOICEGRAPH_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a struct changes in a way that old plugins cannot be read.
 * Growth at the end of a struct is told by its `size` instead. */
#define VG_ABI_VERSION 1u

#if defined(__clang__)
#define VG_AUDIO __attribute__((swift_attr("@_noLocks")))
#define VG_NONNULL _Nonnull
#else
#define VG_AUDIO
#define VG_NONNULL
#endif
/* Nullability is stated only where a processor needs it. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wnullability-completeness"
#endif
#define VG_EXPORT __attribute__((visibility("default")))

/* ---- values: settings as they stand in the graph file ------------------- */

typedef enum vg_value_kind {
  VG_BOOL = 0, VG_INTEGER = 1, VG_NUMBER = 2, VG_STRING = 3, VG_LIST = 4, VG_TABLE = 5
} vg_value_kind;

/* A value. Which field holds it follows from `kind`; VG_INTEGER also fills
 * `number`. Lists and tables have `count` items; a list's items have a NULL key. */
typedef struct vg_value {
  vg_value_kind kind;
  uint32_t count;
  bool boolean;
  int64_t integer;
  double number;
  const char *string;
  const struct vg_entry *items;
} vg_value;

typedef struct vg_entry {
  const char *key;
  vg_value value;
} vg_entry;

/* ---- what a node type says of itself ------------------------------------ */

/* What a setting accepts. VG_SET_PATH names a file that must be readable;
 * VG_SET_STRINGS is one string or a list of strings; VG_SET_TABLE maps names
 * to numbers, strings or booleans. An integer is accepted for a number. */
typedef enum vg_setting_kind {
  VG_SET_BOOL = 0, VG_SET_INTEGER = 1, VG_SET_NUMBER = 2, VG_SET_STRING = 3,
  VG_SET_PATH = 4, VG_SET_STRINGS = 5, VG_SET_TABLE = 6
} vg_setting_kind;

typedef struct vg_setting {
  const char *key;
  const char *doc;
  vg_setting_kind kind;
  bool required;
  const char *default_text; /* as it would be written in the file; NULL: none */
  double minimum, maximum;  /* of numbers; both 0: unbounded */
  const char *unit;         /* NULL: none */
  const char *const *choices; /* of strings; NULL: any */
  uint32_t choice_count;
} vg_setting;

typedef enum vg_scale { VG_LINEAR = 0, VG_LOGARITHMIC = 1, VG_DECIBEL = 2 } vg_scale;

enum {
  VG_PARAM_STEPPED = 1u << 0, /* whole numbers only */
  VG_PARAM_TOGGLE = 1u << 1,  /* 0 or 1 */
  VG_PARAM_ABRUPT = 1u << 2,  /* never ramped */
};

/* A float that is turned while the graph runs. */
typedef struct vg_parameter {
  const char *key;
  const char *doc;
  const char *unit; /* "dB", "Hz", "s", "" */
  float minimum, maximum, default_value;
  vg_scale scale;
  uint32_t flags;
} vg_parameter;

typedef enum vg_port_kind { VG_AUDIO_PORT = 0, VG_CONTROL_PORT = 1, VG_MIDI_PORT = 2, VG_MESSAGE_PORT = 3 } vg_port_kind;
typedef enum vg_direction { VG_INPUT = 0, VG_OUTPUT = 1 } vg_direction;

/* A port. Audio: mono, one block of float32 a cycle. Control: one float a
 * block. MIDI: events with frame offsets. Message: text and other values, in
 * order, never on the audio thread. The audio ports with a NULL `bus` are, in
 * order, the channels of the main bus. */
typedef struct vg_port {
  const char *symbol;
  const char *doc;
  vg_port_kind kind;
  vg_direction direction;
  const char *bus;
  float default_value; /* of a control input without a link */
} vg_port;

typedef struct vg_layout {
  const vg_port *ports;
  uint32_t port_count;
  const vg_parameter *parameters;
  uint32_t parameter_count;
} vg_layout;

/* ---- the audio thread's view -------------------------------------------- */

/* A parameter in this block: frame i has `value + step * i` while i < frames,
 * `target` after that. A steady parameter has frames == 0 and value == target. */
typedef struct vg_ramp {
  float value, step, target;
  uint32_t frames;
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

typedef enum vg_note_kind { VG_NOTE_LOG = 0, VG_NOTE_EVENT = 1, VG_NOTE_LATENCY = 2 } vg_note_kind;

/* What a processor tells the rest of the program from the audio thread. `text`
 * must be a string with static lifetime. */
typedef struct vg_note {
  uint32_t node;
  vg_note_kind kind;
  const char *text;
  double value;
  uint64_t position;
} vg_note;

typedef struct vg_note_sink {
  void *handle;
  /* False: the ring was full, the loss is counted. [audio] */
  bool (*push)(void *handle, const vg_note *note);
} vg_note_sink;

/* A node's connections; pointers hold for one call of process. Audio buffers
 * have `vg_cycle.frames` samples. An input without a link reads zeros. An
 * output may share its buffer with an input only if the type says VG_IN_PLACE. */
typedef struct vg_io {
  float *const *audio_in;
  float *const *audio_out;
  const uint8_t *const *audio_in_silent; /* 1: this block is known to be all zeros */
  uint8_t *const *audio_out_silent;      /* set to 1 after writing all zeros; 0 at entry */
  float *const *control_in;
  float *const *control_out;
  vg_midi *const *midi_in;
  vg_midi *const *midi_out;              /* emptied before the call */
  const vg_ramp *parameters;
  const vg_note_sink *notes;
  uint32_t audio_in_count, audio_out_count;
  uint32_t node; /* for vg_note.node */
} vg_io;

typedef struct vg_transport {
  bool rolling;
  uint64_t frame;
  double bpm, beat; /* beat: since the start; bpm 0: unknown */
  double beats_per_bar, beat_type;
} vg_transport;

enum {
  VG_CYCLE_OFFLINE = 1u << 0, /* time is driven by the caller: quality before speed */
};

typedef struct vg_cycle {
  uint32_t frames; /* of this block; at most vg_preparation.max_block, may vary */
  uint32_t flags;
  double rate;       /* Hz */
  uint64_t position; /* frames processed before this block: never jumps */
  uint64_t clock;    /* the driver's frame time: jumps with xruns */
  vg_transport transport;
  /* As long as it is the same, no parameter moves and every audio buffer of a
   * vg_io stays where it was, in this engine's latest schedule. 0: unknown. */
  uint64_t revision;
} vg_cycle;

/* [audio] */
typedef void (*vg_process_function)(void *VG_NONNULL processor, const vg_io *VG_NONNULL io, const vg_cycle *VG_NONNULL cycle);

/* ---- the control half's view -------------------------------------------- */

typedef enum vg_message_kind { VG_MESSAGE_TEXT = 0, VG_MESSAGE_NUMBER = 1, VG_MESSAGE_BYTES = 2 } vg_message_kind;

typedef struct vg_message {
  vg_message_kind kind;
  const char *text; /* `length` bytes, also NUL-terminated for text */
  size_t length;
  double number;
} vg_message;

/* Levels of one 60th of a second (round(rate / 60) frames). */
typedef struct vg_levels {
  uint32_t channels;
  const float *peak; /* linear, absolute, per channel */
  const float *rms;  /* linear, per channel */
  float orb;         /* 0...1, of the newest window of 1024 frames */
  uint64_t position; /* first frame after the window */
} vg_levels;

/* Audio for consumers: `frames` per channel, planar. */
typedef struct vg_audio {
  uint32_t channels, frames;
  const float *const *samples;
  double rate;
  uint64_t position;
} vg_audio;

/* Something a node publishes. One of levels, audio or fields. */
typedef struct vg_event {
  const char *name; /* "levels", "audio", "speech.started", ... */
  const vg_levels *levels;
  const vg_audio *audio;
  const vg_entry *fields;
  uint32_t field_count;
} vg_event;

typedef enum vg_log_level { VG_LOG_DEBUG = 0, VG_LOG_INFO = 1, VG_LOG_WARNING = 2, VG_LOG_ERROR = 3 } vg_log_level;

/* The host as a node sees it; valid from create to the end of destroy.
 * What is passed is copied before the call returns. */
typedef struct vg_host {
  uint32_t abi, size;
  void *handle;
  const char *node_name;
  const char *base_folder; /* relative paths in settings start here */
  void (*log)(void *handle, vg_log_level level, const char *text);       /* [any] */
  void (*publish)(void *handle, const vg_event *event);                  /* [any] */
  /* Sends to whatever the message output `port` (index among the message
   * outputs) is linked to. False: a receiver's queue is full. [any] */
  bool (*send)(void *handle, uint32_t port, const vg_message *message);
  /* Turns a parameter of this node as a user would: smoothed, or `at_once`
   * where nothing of the node is heard. False: not now, the node does not run
   * or the queue is full. Missing in hosts with a smaller `size`. [any] */
  bool (*set_parameter)(void *handle, uint32_t parameter, float value, bool at_once);
} vg_host;

typedef struct vg_preparation {
  double rate;        /* Hz */
  uint32_t max_block; /* frames */
  bool offline;
} vg_preparation;

/* Filled by a failing call. `key` names the setting at fault, or is empty. */
typedef struct vg_error {
  char message[512];
  char hint[256];
  char key[64];
} vg_error;

enum {
  VG_IN_PLACE = 1u << 0, /* output i may share its buffer with input i */
  VG_EXTERNAL = 1u << 1, /* host only: the driver fills or takes the buffers */
  /* process takes next to no time, at most as long as multiplying its samples
   * by a constant: it is timed together with its neighbours. */
  VG_LIGHT = 1u << 2,
};

typedef struct vg_node_type vg_node_type;
struct vg_node_type {
  uint32_t abi, size;
  void *user;          /* the type's own */
  const char *name;    /* what the file's `type` says: lower case, digits, '-' */
  const char *summary; /* one line */
  const char *doc;     /* may be NULL */
  uint32_t flags;
  vg_layout default_layout; /* with default settings */
  const vg_setting *settings;
  uint32_t setting_count;

  /* Cheap: checks the settings, takes no device, starts no thread. `settings`
   * is a table. NULL: `error` says why. [control] */
  void *(*create)(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error);
  void (*destroy)(void *node);
  /* Ports and parameters of this node; NULL function: those of the type. They
   * stay the same for the node's life. [control] */
  const vg_layout *(*layout)(void *node);
  /* Everything the processor will need. Returns the processor, which the node
   * owns until the next prepare or destroy. NULL: `error` says why. [control] */
  void *(*prepare)(void *node, const vg_preparation *preparation, vg_error *error);
  void (*activate)(void *node);   /* may be NULL [control] */
  vg_process_function process;    /* NULL for types without an audio half [audio] */
  /* Only for nodes that may close a feedback loop: takes the inputs, while
   * `process` gives the outputs from what was taken before. Outside a loop it
   * is called before process, inside one after it. [audio] */
  vg_process_function absorb;
  void (*deactivate)(void *node); /* may be NULL [control] */
  /* A message for the message input `port` (index among those). May be NULL. [control] */
  void (*receive)(void *node, uint32_t port, const vg_message *message);
  /* Called about 120 times a second while active: the place to move what the
   * processor left in the node's rings. May be NULL. [control] */
  void (*poll)(void *node);
  /* Frames between an input and the output it causes. May be NULL: 0. [control] */
  uint32_t (*latency)(void *node);
  /* Offline only: waits until `frames` can be processed without a gap. May be NULL. [control] */
  void (*wait)(void *node, uint32_t frames);
  /* False while the node has something of its own left to play, also before it is prepared. May be NULL: true.
     [control] */
  bool (*idle)(void *node);
  /* Writes what another node with the same settings would need to go on like
   * this one into `folder`, which is made if need be. Also while active. False:
   * `error` says why. May be NULL: there is nothing to keep. [control] */
  bool (*save)(void *node, const char *folder, vg_error *error);
  /* Goes over to a preset without a click, also while active; what belongs to
   * it may come a little later, from `poll`. False: `error` says why, nothing
   * changes. May be NULL: there are no presets. [control] */
  bool (*load_preset)(void *node, const char *preset, vg_error *error);
  /* Sets a property: what is turned while running and is no number that could
   * ramp, such as the name of a file. False: `error` says why. May be NULL:
   * there are none. [control] */
  bool (*set_property)(void *node, const char *key, const vg_value *value, vg_error *error);
  /* Asks for a property's value, which then comes as the event "property" with
   * the fields "key", "uri", "label" and "value". False: `error` says why. May be NULL:
   * there are none. [control] */
  bool (*ask_property)(void *node, const char *key, vg_error *error);
};

/* What a shared object holds. */
typedef struct vg_plugin {
  uint32_t abi, size;
  const char *name, *version, *license;
  const vg_node_type *const *types;
  uint32_t type_count;
} vg_plugin;

/* The exported symbol. `host_abi` is the host's VG_ABI_VERSION; a plugin that
 * cannot serve it returns NULL. [control] */
typedef const vg_plugin *(*vg_plugin_entry_function)(uint32_t host_abi);
#define VG_PLUGIN_ENTRY_SYMBOL "vg_plugin_entry"
VG_EXPORT const vg_plugin *vg_plugin_entry(uint32_t host_abi);

/* ---- helpers for processors --------------------------------------------- */

/* The parameter's value at frame `i` of this block. [audio] */
VG_AUDIO static inline float vg_ramp_at(const vg_ramp *VG_NONNULL ramp, uint32_t i) {
  return i < ramp->frames ? ramp->value + ramp->step * (float)i : ramp->target;
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

/* Sends a note; see vg_note. [audio] */
VG_AUDIO static inline bool vg_note_push(const vg_io *VG_NONNULL io, vg_note_kind kind, const char *text, double value, uint64_t position) {
  if (!io->notes || !io->notes->push) return false;
  vg_note note = {io->node, kind, text, value, position};
  return io->notes->push(io->notes->handle, &note);
}

/* Calls a process function: the one place where an unknown function runs on
 * the audio thread. [audio] */
VG_AUDIO static inline void vg_call_process(vg_process_function VG_NONNULL function, void *VG_NONNULL processor, const vg_io *VG_NONNULL io, const vg_cycle *VG_NONNULL cycle) {
  function(processor, io, cycle);
}

#ifdef __cplusplus
}
#endif
#endif
