/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, and what declarations are made of. Part of <voicegraph/node.h>. */
#ifndef VOICEGRAPH_VALUES_H
#define VOICEGRAPH_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A list of structs of one kind. `size` is the size of one of them as its author knew it: whoever reads the list steps
 * by it and takes what is missing as zero, so that each kind may grow at its end. VG_ARRAY(array) makes one. */
typedef struct vg_list {
  const void *items;
  uint32_t count, size;
} vg_list;
#define VG_ARRAY(array) {(array), (uint32_t)(sizeof(array) / sizeof((array)[0])), (uint32_t)sizeof((array)[0])}

/* ---- values: settings, arguments, results, fields of events --------------- */

typedef enum vg_value_kind {
  VG_BOOL = 0, VG_INTEGER = 1, VG_NUMBER = 2, VG_STRING = 3, VG_LIST = 4, VG_TABLE = 5,
  VG_ANY = 6 /* of a vg_field only: one of the others, each time anew */
} vg_value_kind;

/* A value. Which field holds it follows from `kind`; VG_INTEGER also fills
 * `number`. Lists and tables have `count` items; a list's items have a NULL key.
 * Never grows. */
typedef struct vg_value {
  vg_value_kind kind;
  uint32_t count;
  bool boolean;
  int64_t integer;
  double number;
  const char *string;
  const struct vg_entry *items;
} vg_value;

/* A value with its key. Never grows. */
typedef struct vg_entry {
  const char *key;
  vg_value value;
} vg_entry;

/* Filled by a failing call. `key` names the setting or argument at fault, or the kind of the failure, behind a colon:
 * ":already-recording"; or it is empty. Never grows. */
typedef struct vg_error {
  char message[512];
  char hint[256];
  char key[64];
} vg_error;

/* ---- settings and arguments ----------------------------------------------- */

/* What a setting or an argument accepts. VG_SET_PATH names a file that must be readable; VG_SET_STRINGS is one string
 * or a list of strings; VG_SET_TABLE maps names to numbers, strings or booleans; VG_SET_VALUE is anything but a table
 * or a list. An integer is accepted for a number. */
typedef enum vg_setting_kind {
  VG_SET_BOOL = 0, VG_SET_INTEGER = 1, VG_SET_NUMBER = 2, VG_SET_STRING = 3,
  VG_SET_PATH = 4, VG_SET_STRINGS = 5, VG_SET_TABLE = 6, VG_SET_VALUE = 7
} vg_setting_kind;

enum {
  VG_SETTING_LIVE = 1u << 0, /* may be changed while the node plays: see vg_type_live_settings */
  /* What its texts name beyond the graph. Over a network only the graph's own file, or who it trusts, names a program, a
   * variable of the environment, an address, or a file outside the graph's folder. VG_SET_PATH always names a file. */
  VG_SETTING_FILE = 1u << 1,     /* a file or folder, read or written */
  VG_SETTING_PROGRAM = 1u << 2,  /* a program, or a line for the shell */
  VG_SETTING_VARIABLE = 1u << 3, /* a variable of the environment */
  VG_SETTING_ADDRESS = 1u << 4,  /* a URL, or another machine */
};

/* A setting of a node type, or an argument of an action. */
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
  uint32_t flags;           /* VG_SETTING_* */
} vg_setting;

/* What a result or an event carries under `name`. */
typedef struct vg_field {
  const char *name;
  const char *doc;
  vg_value_kind kind;
  const char *unit; /* NULL: none */
} vg_field;

/* ---- actions, events, series ---------------------------------------------- */

enum {
  /* Overtakes the messages and actions that wait for the node, as "stop" must. */
  VG_ACTION_URGENT = 1u << 0,
  /* What it does lasts: it is done again, in order, when the node had to be made anew after a crash, unless a later one
   * with the same first argument took its place or a saved state holds it. */
  VG_ACTION_LASTING = 1u << 1,
  /* Belongs to talking with the graph: visitors of its page may do it too, who may change nothing else. */
  VG_ACTION_PUBLIC = 1u << 2,
};

/* Something that can be done to a node besides turning its parameters. The host checks name and arguments as it checks a
 * file. Names with a meaning that the host relies on are VG_ACTION_SAVE and its neighbours. */
typedef struct vg_action {
  const char *name; /* lower case, digits, '-' and '_' */
  const char *doc;
  vg_list arguments; /* of vg_setting */
  vg_list results;   /* of vg_field */
  uint32_t flags;    /* VG_ACTION_* */
} vg_action;

/* Writes what another node with the same settings would need to go on like this one into the folder "folder", which is
 * made if need be. */
#define VG_ACTION_SAVE "save"
/* Goes over to the preset "preset" without a click. */
#define VG_ACTION_PRESET "preset"
/* Sets the property "key" to "value", or without that returns its "value". */
#define VG_ACTION_PROPERTY "property"
/* Done by the host to a node that hears nothing but what comes from outside: "there" (VG_SET_BOOL) is false when nothing is
 * connected to any of those inputs any more, as when a microphone is unplugged, with the "reason"; true when something is
 * again. "comes" (VG_SET_BOOL) is false, with the "reason", as long as no blocks come at all, to whatever node. */
#define VG_ACTION_SOURCE "source"

/* Roles: what a node is for people. Commands, the terminal and the page ask for roles and know no type. A type has a role
 * when it declares what stands here. "A state" is a retained event with these fields.
 *   speaks       the action "speak", which says "text"; "stop", "pause" and "resume" for faces. A state: "speaking" and
 *                "paused" (VG_BOOL), and the "text" that is heard.
 *   transcribes  the actions "start", "stop" and "toggle", and an event that tells texts. A state: "state", which is
 *                "idle", "listening", "hearing", "finishing" or "failed".
 *   converses    the action "send", whose first argument is "text". A state: "state" and "label".
 *   records      the actions "start", "pause", "resume" and "finish". A state: "state", which is "idle", "recording",
 *                "paused", "interrupted", "finished" or "failed", with the "path" and the "seconds".
 *   shows        a state: "style", how it wants to be drawn. */
#define VG_ACTION_SPEAK "speak"
#define VG_ACTION_START "start"
#define VG_ACTION_STOP "stop"
#define VG_ACTION_TOGGLE "toggle"
#define VG_ACTION_PAUSE "pause"
#define VG_ACTION_RESUME "resume"
#define VG_ACTION_FINISH "finish"
#define VG_ACTION_SEND "send"

enum {
  /* The newest one is given, before anything new, to whoever begins to listen later: it tells a state. */
  VG_EVENT_RETAINED = 1u << 0,
  /* It tells the text of an item, for whoever keeps what was said: the field "item" (VG_INTEGER, 1 or more) says of
   * which, "text" (VG_STRING) is the whole of it, blank where there is none after all. "start" and "end" (VG_NUMBER,
   * seconds of the graph) say when it was said, where that is known; else it is as the event. "speaker" (VG_STRING) says
   * who has said it, where that is another than the file says of the node. */
  VG_EVENT_TEXT = 1u << 1,
  /* It tells that a take has ended, for whoever keeps takes: "path" (VG_STRING) is its file; "frames", "rate",
   * "channels", "seconds", and "reason", why it ended if not because it was to, where they are known. A file that could
   * not be completed is called "place". */
  VG_EVENT_TAKE = 1u << 2,
  /* With one of these two: it is not over. The text is that of the item so far; the take has begun, and its file is
   * called "place" until it has ended. */
  VG_EVENT_PARTIAL = 1u << 3,
  /* With one of these two: it is void. What was told of the item or the take is not to be kept. */
  VG_EVENT_WITHDRAWN = 1u << 4,
  /* Belongs to talking with the graph: visitors of its page are told it too, as they are told every text. They are not
   * told its field "reason". */
  VG_EVENT_PUBLIC = 1u << 5,
  /* What the node had to play by itself has ended, as a text that is spoken or a file: at the event's frame the last of it
   * left the node. What ends when its sources end waits for this. */
  VG_EVENT_END = 1u << 6,
  /* With VG_EVENT_END: at the event's frame the last of it was heard, behind all that is late in the graph. */
  VG_EVENT_HEARD = 1u << 7,
  /* At most one of the next four. Something that the node was to do failed: "reason" (VG_STRING) says why. */
  VG_EVENT_FAILURE = 1u << 8,
  /* Audio, a message or an event was lost, or came too late. */
  VG_EVENT_LOSS = 1u << 9,
  /* A word, or a sentence, of the text that the node speaks is heard now: "offset" and "length" (VG_INTEGER) are its place
   * in that text, in Unicode scalars. */
  VG_EVENT_WORD = 1u << 10,
  VG_EVENT_SENTENCE = 1u << 11,
};

/* Something that a node publishes now and then. */
typedef struct vg_event_type {
  const char *name; /* "speech.started": lower case, digits, '.', '-' and '_' */
  const char *doc;
  vg_list fields; /* of vg_field */
  uint32_t flags; /* VG_EVENT_* */
  /* What it says to people who read a log, behind the node's name: "recorded [{seconds:time} to ]{path}". NULL: its name and
   * fields, or the text that it tells; "": nothing, since it is of use to programs only.
   *   {field}        its value             {field:2}      with two decimals
   *   {field:time}   seconds as 1:02:03    {field:noun}   "1 noun", "2 nouns"
   *   [a|b]          the first of these texts whose fields all say something: one that is missing, empty, 0 or false does not.
   *                  {field?} asks for a field without showing it. */
  const char *sentence;
} vg_event_type;

enum {
  /* Measured only while somebody asks for it by its name, which vg_host_series.wanted tells: it takes time, or room. Its
   * frames are not retained. */
  VG_SERIES_ON_REQUEST = 1u << 0,
};

enum {
  /* With another value of the setting, or none, too, where they are installed: the node is better with them. */
  VG_NEED_BETTER = 1u << 0,
  /* A node that needs them gets a process of its own, as with `isolate`: what reads them ends its process, or may. */
  VG_NEED_ALONE = 1u << 1,
};

/* Models that nodes of a type use, by their names in `voicegraph models list`. */
typedef struct vg_need {
  const char *models;  /* with spaces between them: "onnxruntime silero-vad" */
  const char *setting; /* the setting that asks for them, */
  const char *value;   /* by this value */
  uint32_t flags;      /* VG_NEED_* */
} vg_need;

/* A row of numbers that a node publishes regularly. The newest frame is retained. */
typedef struct vg_series {
  const char *name; /* "peak", "bands" */
  const char *doc;
  const char *unit; /* "dBFS", "LUFS", "" (linear) */
  double rate;      /* frames a second; 0: irregular */
  uint32_t width;   /* numbers a frame; 0: one a channel, or as many as there are */
  uint32_t flags;   /* VG_SERIES_* */
} vg_series;

#endif
