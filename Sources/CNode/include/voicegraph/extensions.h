/* SPDX-License-Identifier: Apache-2.0
 *
 * What not every node type and not every host has: tables by name. Part of
 * <voicegraph/node.h>.
 *
 * A type lists those that it has in vg_node_type.extensions. A node asks for
 * those of its host by vg_host.extension; NULL: not here. Whoever does not know
 * a name leaves it out. A table never grows: what comes later has another name. */
#ifndef VOICEGRAPH_EXTENSIONS_H
#define VOICEGRAPH_EXTENSIONS_H

#include "cycle.h"
#include "values.h"

/* Never grows. */
typedef struct vg_extension {
  const char *name;  /* VG_EXT_* */
  const void *table; /* what the name stands for: vg_type_* */
} vg_extension;

/* ---- messages ------------------------------------------------------------- */

#define VG_EXT_MESSAGES "messages"

typedef enum vg_message_kind { VG_MESSAGE_TEXT = 0, VG_MESSAGE_NUMBER = 1, VG_MESSAGE_BYTES = 2 } vg_message_kind;

enum {
  VG_MESSAGE_PARTIAL = 1u << 0, /* more of this item follows, or a better version of it */
  VG_MESSAGE_URGENT = 1u << 1,  /* overtakes what waits for the receiver and is not urgent */
};

/* A message over a link between message ports. */
typedef struct vg_message {
  uint32_t size; /* of this struct */
  vg_message_kind kind;
  const char *text; /* `length` bytes, also NUL-terminated for text */
  size_t length;
  double number;
  uint64_t item;     /* what belongs together: an utterance, a reply; 0: this message alone. A node never uses a number
                        again, nor does an instance that takes its place: live, begin with the time. */
  uint64_t position; /* frame of the graph that it is about; 0: none */
  uint32_t flags;    /* VG_MESSAGE_* */
} vg_message;

typedef struct vg_type_messages {
  /* A message for the message input `port` (index among those). [control] */
  void (*receive)(void *node, uint32_t port, const vg_message *message);
} vg_type_messages;

typedef struct vg_host_messages {
  /* Sends to whatever the message output `port` (index among the message
   * outputs) is linked to. False: a receiver's inbox is full. [any] */
  bool (*send)(void *handle, uint32_t port, const vg_message *message);
} vg_host_messages;

/* ---- actions -------------------------------------------------------------- */

#define VG_EXT_ACTIONS "actions"

/* The call of an action: where its results go. */
typedef struct vg_call {
  uint32_t size; /* of this struct */
  void *handle;
  /* Adds a field to the result. [any] */
  void (*put)(void *handle, const char *name, const vg_value *value);
  /* Ends a call that was answered with VG_LATER, once; `error` NULL: it is done. Nothing may be done with the call
   * after that. Calls that a node has not ended when it is destroyed end with an error. [any] */
  void (*finish)(void *handle, const vg_error *error);
} vg_call;

typedef enum vg_outcome { VG_FAILED = 0, VG_DONE = 1, VG_LATER = 2 } vg_outcome;

typedef struct vg_type_actions {
  vg_list actions; /* of vg_action */
  /* Does an action of the list; `arguments` is a table that was checked. VG_DONE: `call` has the results. VG_FAILED:
   * `error` says why, and nothing has changed. VG_LATER: `call` is ended later. [control] */
  vg_outcome (*perform)(void *node, const char *action, const vg_value *arguments, const vg_call *call, vg_error *error);
} vg_type_actions;

/* What came of an action of another node, once: its results as a table, or `error`. Valid during the call. [any] */
typedef void (*vg_answer_function)(void *context, const vg_value *results, const vg_error *error);

/* Actions of other nodes that a node may have called and not heard of yet. */
#define VG_MOST_CALLS 16

/* What is done to other nodes of the graph. */
typedef struct vg_host_actions {
  /* What another node of the graph declares that can be done to it: a list of vg_action, for good. NULL: there is no
   * such node, or nothing is known of it here. [any] */
  const vg_list *(*actions_of)(void *handle, const char *node);
  /* Does an action of another node of the graph, after what waits for that node; `arguments` is a table, checked as
   * ever. The file must allow it: the calling node's setting `allow` names it, as "NODE.ACTION". `answer` is called
   * once, also before this returns: with the results, or with an error if it is not allowed, cannot be done, is not
   * done after so many seconds, or if VG_MOST_CALLS are under way. [any] */
  void (*call)(void *handle, const char *node, const char *action, const vg_value *arguments, double seconds,
               void *context, vg_answer_function answer);
} vg_host_actions;

/* ---- settings that change while the node plays ---------------------------- */

#define VG_EXT_LIVE_SETTINGS "live-settings"

typedef struct vg_type_live_settings {
  /* Changes a setting that is declared live; the value was checked. False: `error` says why, and nothing has
   * changed. [control] */
  bool (*set)(void *node, const char *key, const vg_value *value, vg_error *error);
} vg_type_live_settings;

/* ---- series: rows of numbers at a rate ------------------------------------ */

#define VG_EXT_SERIES "series"

/* The numbers of one series. Never grows. */
typedef struct vg_row {
  uint32_t series; /* place among the series that the type declares */
  uint32_t count;
  const float *values;
} vg_row;

/* One frame of one or more series: they belong to the same time. */
typedef struct vg_frame {
  uint32_t size; /* of this struct */
  uint32_t row_count;
  const vg_row *rows;
  uint64_t position; /* first frame of the graph after what was measured */
} vg_frame;

typedef struct vg_type_series {
  vg_list series; /* of vg_series */
} vg_type_series;

typedef struct vg_host_series {
  void (*publish)(void *handle, const vg_frame *frame); /* [any] */
  /* Which of the node's series somebody reads now: bit i for the series of index i, of which those above 63 always are.
   * Those that are not VG_SERIES_ON_REQUEST always are. May be asked as often as the node is polled. [any] */
  uint64_t (*wanted)(void *handle);
} vg_host_series;

/* ---- audio for consumers -------------------------------------------------- */

#define VG_EXT_AUDIO "audio"

/* Audio for consumers: `frames` per channel, planar. */
typedef struct vg_audio {
  uint32_t size; /* of this struct */
  uint32_t channels, frames;
  const float *const *samples;
  double rate;       /* Hz */
  uint64_t position; /* frame of the graph of the first */
  uint64_t frame;    /* the same in the node's own stream, as in the recording, at `rate` */
  uint64_t time;     /* when the first came, in nanoseconds of CLOCK_MONOTONIC; 0: unknown */
} vg_audio;

typedef struct vg_host_audio {
  void (*publish)(void *handle, const vg_audio *audio); /* [any] */
} vg_host_audio;

/* ---- streams: sound of clients -------------------------------------------- */

#define VG_EXT_STREAMS "streams"

/* Sound between a node and one client, such as the microphone of a page. Its calls come one after another, from any
 * thread but the audio thread; they take bounded time, and may come when the node is gone. What the direction has no
 * use for may be NULL. [any] */
typedef struct vg_stream {
  uint32_t size; /* of this struct */
  void *handle;
  /* Takes interleaved frames of the client. `position` is that of the first among all that it recorded, modulo 2^32;
   * where it does not follow, frames were lost. False: the node has ended. */
  bool (*push)(void *handle, uint32_t position, const float *samples, uint32_t frames);
  /* Gives interleaved frames, as many as there are and `room` is for, and the position of the first among all frames of
   * the stream. Returns how many, 0: there is nothing now, negative: the node has ended. */
  int32_t (*pull)(void *handle, float *samples, uint32_t room, uint32_t *position);
  /* Takes how many frames wait at a client that plays, about four times a second. */
  void (*report)(void *handle, uint32_t frames);
  /* Ends it. Nothing may be done with it after that. */
  void (*close)(void *handle);
} vg_stream;

/* How the streams of a node are. */
typedef struct vg_stream_state {
  uint32_t size;     /* of this struct */
  uint32_t channels; /* of the node */
  uint32_t clients;  /* that stream now */
  bool full;         /* whether no other client may */
  double rate;       /* of the graph, in Hz; 0: nothing can be streamed now */
} vg_stream_state;

typedef struct vg_type_streams {
  bool gives; /* to clients; else it takes what they send */
  void (*state)(void *node, vg_stream_state *state); /* [any] */
  /* Opens a stream of a client that has so many channels at `rate` in Hz. False: `error` says why. [any] */
  bool (*open)(void *node, double rate, uint32_t channels, const char *client, vg_stream *stream, vg_error *error);
} vg_type_streams;

/* ---- feedback loops ------------------------------------------------------- */

#define VG_EXT_LOOP "loop"

/* Of nodes that may close a feedback loop. */
typedef struct vg_type_loop {
  /* Takes the inputs, while `process` gives the outputs from what was taken before. Outside a loop it is called before
   * process, inside one after it. [audio] */
  vg_process_function absorb;
} vg_type_loop;

/* ---- beginnings and ends -------------------------------------------------- */

#define VG_EXT_OFFLINE "offline"

typedef struct vg_type_offline {
  /* Offline only: waits until `frames` can be processed without a gap. [control] */
  void (*wait)(void *node, uint32_t frames);
} vg_type_offline;

#define VG_EXT_ENDING "ending"

/* Seconds that `finish` of all nodes may take together. */
#define VG_FINISH_SECONDS 5

/* Either may be NULL. */
typedef struct vg_type_ending {
  /* False while the node has something of its own left to play, also before it is prepared. NULL: true. [control] */
  bool (*idle)(void *node);
  /* The node's audio has ended for good: finish what it holds, the head of a file or the last words of a transcript.
   * Messages that it sends now still arrive. The host waits for VG_FINISH_SECONDS at most. [control] */
  void (*finish)(void *node);
} vg_type_ending;

/* ---- what a type is to a user's machine ----------------------------------- */

#define VG_EXT_NEEDS "needs"

typedef struct vg_type_needs {
  vg_list needs; /* of vg_need */
} vg_type_needs;

#define VG_EXT_OTHER_NAMES "other-names"

typedef struct vg_type_other_names {
  /* What other programs call such a type, with spaces between: "mic microphone capture". Who writes one of these is told
   * the name. */
  const char *names;
} vg_type_other_names;

#endif
