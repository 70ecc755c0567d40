/* SPDX-License-Identifier: Apache-2.0
 *
 * The voicegraph node ABI: the one contract between the host and a node.
 *
 * A shared object exports `vg_plugin_entry`; it returns a vg_plugin that lists
 * node types. The host's own nodes are described by the same structs.
 *
 * Life of a node, in this order:
 *
 *   create -> [layout] -> prepare -> activate -> process* -> finish -> deactivate
 *          -> (prepare again when the rate or the block size changes) -> destroy
 *
 * Thread tags at the end of a doc:
 *   [control]  an ordinary thread. Calls for one node come one after another and
 *              never overlap, on whatever thread the host has free; a call that
 *              takes long delays this node alone
 *   [audio]    the realtime thread: no allocation, lock, system call or wait
 *   [worker]   a thread of the node's own
 *   [any]      every thread but [audio]
 * All strings are UTF-8 and NUL-terminated. What a descriptor points to must
 * live as long as the shared object is loaded.
 *
 * How the contract grows: what can be called, by extensions with new names
 * (extensions.h); vg_host, vg_node_type and vg_plugin stay as they are. What is
 * told or declared, by fields at the end of its struct: one that is passed by
 * pointer states its own `size`; those in a vg_list state it in the list; those
 * that say so never grow.
 */
#ifndef VOICEGRAPH_NODE_H
#define VOICEGRAPH_NODE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "values.h"
#include "cycle.h"
#include "extensions.h"

/* Raised when a plugin built before could not be read any more. */
#define VG_ABI_VERSION 3u

/* ---- ports and parameters ------------------------------------------------ */

typedef enum vg_scale { VG_LINEAR = 0, VG_LOGARITHMIC = 1, VG_DECIBEL = 2 } vg_scale;

enum {
  VG_PARAM_STEPPED = 1u << 0, /* whole numbers only */
  VG_PARAM_TOGGLE = 1u << 1,  /* 0 or 1 */
  VG_PARAM_ABRUPT = 1u << 2,  /* never ramped */
  VG_PARAM_TRIGGER = 1u << 3, /* what it is set to holds for one block; then it is at its default again */
};

/* A value of a parameter that has a name, such as "Saw" for 2. */
typedef struct vg_point {
  const char *label;
  float value;
} vg_point;

/* A float that is turned while the graph runs. */
typedef struct vg_parameter {
  const char *key;
  const char *doc;
  const char *unit; /* "dB", "Hz", "s", "" */
  float minimum, maximum, default_value;
  vg_scale scale;
  uint32_t flags;
  const char *label; /* what people call it; NULL: its key. It may be set by this name too, in any capitals. */
  vg_list points;    /* of vg_point: it may be set by their labels too */
} vg_parameter;

typedef enum vg_port_kind { VG_AUDIO_PORT = 0, VG_CONTROL_PORT = 1, VG_MIDI_PORT = 2, VG_MESSAGE_PORT = 3 } vg_port_kind;
typedef enum vg_direction { VG_INPUT = 0, VG_OUTPUT = 1 } vg_direction;

enum { VG_TAKES_TEXT = 1u << 0, VG_TAKES_NUMBER = 1u << 1, VG_TAKES_BYTES = 1u << 2 };

/* A port. Audio: mono, one block of float32 a cycle. Control: one float a
 * block. MIDI: events with frame offsets. Message: text and other values, in
 * order, never on the audio thread. The ports with a NULL `bus` are those that a
 * link means which names only the node: audio ports are, in order, the channels
 * of the main bus. */
typedef struct vg_port {
  const char *symbol;
  const char *doc;
  vg_port_kind kind;
  vg_direction direction;
  const char *bus;
  float default_value; /* of a control: that of an input without a link, and of an output while its node does not run.
                          A gate that must stay closed without its node says here what closes it */
  uint32_t takes;      /* VG_TAKES_* of a message input; 0: anything */
} vg_port;

/* Never grows. */
typedef struct vg_layout {
  vg_list ports;      /* of vg_port */
  vg_list parameters; /* of vg_parameter */
} vg_layout;

/* ---- what nodes tell, and what is told to them --------------------------- */

enum {
  VG_EVENT_SILENT = 1u << 0, /* replaces what whoever subscribes later is told, and is told to nobody now */
};

/* Something that happened, of a kind that the type declares. */
typedef struct vg_event {
  uint32_t size; /* of this struct */
  const char *name;
  const vg_entry *fields;
  uint32_t field_count;
  uint64_t position; /* frame of the graph at which it happened; 0: now */
  uint32_t flags;    /* VG_EVENT_* */
} vg_event;

typedef enum vg_log_level { VG_LOG_DEBUG = 0, VG_LOG_INFO = 1, VG_LOG_WARNING = 2, VG_LOG_ERROR = 3 } vg_log_level;

/* How a node is. Degraded: it does less than it should. Failed: it does nothing. */
typedef enum vg_health { VG_HEALTH_OK = 0, VG_HEALTH_DEGRADED = 1, VG_HEALTH_FAILED = 2 } vg_health;

/* ---- the host ------------------------------------------------------------- */

/* The host as a node sees it; valid from create to the end of destroy.
 * What is passed is copied before the call returns. Never grows. */
typedef struct vg_host {
  uint32_t abi, size;
  void *handle;
  const char *node_name;
  const char *graph_name;
  const char *base_folder; /* relative paths in settings start here */
  /* This program's folders of this user. Whoever writes first makes them. */
  const char *data_folder;  /* what must be kept */
  const char *cache_folder; /* what can be made again */
  const char *model_folder; /* models and voices */
  void (*log)(void *handle, vg_log_level level, const char *text);       /* [any] */
  void (*publish)(void *handle, const vg_event *event);                  /* [any] */
  /* Says how the node is, with the reason unless it is well. [any] */
  void (*health)(void *handle, vg_health health, const char *reason);
  /* Adds to a counter of the node, which the host's status shows by this name. [any] */
  void (*count)(void *handle, const char *counter, uint64_t number);
  /* Turns a parameter of this node as a user would: smoothed, or `at_once`
   * where nothing of the node is heard; from the frame `position` of the graph
   * on, 0: now. False: not now, the node does not run or the queue is full. [any] */
  bool (*set_parameter)(void *handle, uint32_t parameter, float value, bool at_once, uint64_t position);
  /* Frames from a sample that leaves this node until it is heard: what follows
   * it in the graph, and the device. [any] */
  uint32_t (*output_latency)(void *handle);
  /* What this host has besides, by the VG_EXT_* of extensions.h: a table that stays until the end of destroy. NULL: not
   * here. [any] */
  const void *(*extension)(void *handle, const char *name);
} vg_host;

/* ---- calls of a node ------------------------------------------------------ */

typedef struct vg_preparation {
  uint32_t size;      /* of this struct */
  double rate;        /* Hz */
  uint32_t max_block; /* frames */
  bool offline;
  uint32_t parameter_count;
  const float *parameters; /* what the parameters begin with, in layout order; NULL: their defaults */
} vg_preparation;

enum {
  VG_IN_PLACE = 1u << 0, /* output i may share its buffer with input i */
  VG_EXTERNAL = 1u << 1, /* host only: the driver fills or takes the buffers */
  /* process takes next to no time, at most as long as multiplying its samples
   * by a constant: it is timed together with its neighbours. */
  VG_LIGHT = 1u << 2,
};

/* Never grows. */
typedef struct vg_node_type vg_node_type;
struct vg_node_type {
  uint32_t abi, size;
  void *user;          /* the type's own */
  const char *name;    /* what the file's `type` says: lower case, digits, '-' */
  const char *summary; /* one line */
  const char *doc;     /* may be NULL */
  uint32_t flags;
  vg_layout default_layout; /* with default settings */
  vg_list settings;         /* of vg_setting */
  vg_list events;           /* of vg_event_type */
  vg_list extensions;       /* of vg_extension: what the type has besides */

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
  void (*deactivate)(void *node); /* may be NULL [control] */
  /* Called 60 to 120 times a second while active: the place to move what the
   * processor left in the node's rings. May be NULL. [control] */
  void (*poll)(void *node);
  /* Frames between an input and the output it causes. May be NULL: 0. [control] */
  uint32_t (*latency)(void *node);
};

/* What a shared object holds. Never grows. */
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

#ifdef __cplusplus
}
#endif
#endif
