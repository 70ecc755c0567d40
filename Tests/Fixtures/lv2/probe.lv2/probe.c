/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins that tell what their host does. Built by the tests that load them. */
#include <lv2/atom/util.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/core/lv2.h>
#include <lv2/log/log.h>
#include <lv2/midi/midi.h>
#include <lv2/options/options.h>
#include <lv2/resize-port/resize-port.h>
#include <lv2/state/state.h>
#include <lv2/time/time.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "urn:voicegraph:test:"

enum { REQUEST, ANSWER, THREADED, CYCLES, FRAMES, LATENCY, SILENT, LONGEST, BANG, BANGS, EVENTS, ECHO, CAPACITY,
       POSITIONS, SPEED, BAR_BEAT, MAPPED, RESTORED, COUNT };

typedef struct {
  void *ports[COUNT];
  const LV2_URID_Map *map;
  const LV2_Worker_Schedule *schedule;
  const LV2_Log_Log *log;
  const LV2_Resize_Port_Resize *resize;
  float asked, restored;
  int32_t told;
  int cycles, bangs, positions, runs;
  float longest;
  atomic_int inside; /* odd in run */
  pthread_t runner;
  struct { float value; float threaded; } answer;
} Probe;

static void set(Probe *p, int port, float value) { *(float *)p->ports[port] = value; }
static float get(Probe *p, int port) { return *(const float *)p->ports[port]; }

static LV2_Handle make(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *features) {
  Probe *p = calloc(1, sizeof *p);
  const LV2_Options_Option *options = NULL;
  for (; *features; features++) {
    if (!strcmp((*features)->URI, LV2_URID__map)) p->map = (*features)->data;
    if (!strcmp((*features)->URI, LV2_WORKER__schedule)) p->schedule = (*features)->data;
    if (!strcmp((*features)->URI, LV2_LOG__log)) p->log = (*features)->data;
    if (!strcmp((*features)->URI, LV2_RESIZE_PORT__resize)) p->resize = (*features)->data;
    if (!strcmp((*features)->URI, LV2_OPTIONS__options)) options = (*features)->data;
  }
  const LV2_URID longest = p->map->map(p->map->handle, LV2_BUF_SIZE__maxBlockLength);
  for (; options && options->key; options++)
    if (options->key == longest) p->longest = (float)*(const int32_t *)options->value;
  p->restored = -1;
  p->log->printf(p->log->handle, p->map->map(p->map->handle, LV2_LOG__Warning), "made at %d Hz\n", (int)rate);
  return p;
}

static LV2_Handle refuse(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *features) {
  return NULL;
}

static void connect(LV2_Handle h, uint32_t port, void *data) { ((Probe *)h)->ports[port] = data; }

/* Dies, as real plugins do, if a port was left alone. */
static void activate(LV2_Handle h) {
  Probe *p = h;
  for (int i = 0; i < COUNT; i++)
    if (!p->ports[i]) abort();
  set(p, ANSWER, -1);
}

static void events(Probe *p) {
  const LV2_URID midi = p->map->map(p->map->handle, LV2_MIDI__MidiEvent);
  const LV2_URID position = p->map->map(p->map->handle, LV2_TIME__Position);
  const LV2_Atom_Sequence *in = p->ports[EVENTS];
  LV2_Atom_Sequence *out = p->ports[ECHO];
  const uint32_t capacity = out->atom.size;
  set(p, CAPACITY, (float)capacity);
  out->atom.type = in->atom.type;
  lv2_atom_sequence_clear(out);
  LV2_ATOM_SEQUENCE_FOREACH(in, e) {
    if (e->body.type == midi) lv2_atom_sequence_append_event(out, capacity, e);
    const LV2_Atom_Object *o = (const LV2_Atom_Object *)&e->body;
    if (e->body.type != p->map->map(p->map->handle, LV2_ATOM__Object) || o->body.otype != position) continue;
    const LV2_Atom *speed = NULL, *bar_beat = NULL;
    lv2_atom_object_get(o, p->map->map(p->map->handle, LV2_TIME__speed), &speed,
                        p->map->map(p->map->handle, LV2_TIME__barBeat), &bar_beat, 0);
    p->positions++;
    if (speed) set(p, SPEED, ((const LV2_Atom_Float *)speed)->body);
    if (bar_beat) set(p, BAR_BEAT, ((const LV2_Atom_Float *)bar_beat)->body);
  }
}

/* What comes of asking for larger buffers, in one line. */
static void ask_for_room(Probe *p) {
  const struct { uint32_t port; size_t size; } wanted[] = {
      {ECHO, 8}, {ECHO, (size_t)get(p, CAPACITY)}, {ECHO, (size_t)get(p, CAPACITY) + 1000}, {ECHO, (size_t)-1},
      {EVENTS, 4096}, {ANSWER, 4}, {ANSWER, 8}, {SILENT, 4}, {COUNT, 1}, {(uint32_t)-1, 0}};
  char line[64] = "room:";
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    char answer[8];
    snprintf(answer, sizeof answer, " %d", (int)p->resize->resize(p->resize->data, wanted[i].port, wanted[i].size));
    strcat(line, answer);
  }
  p->log->printf(p->log->handle, p->map->map(p->map->handle, LV2_LOG__Trace), "%s", line);
}

static void run(LV2_Handle h, uint32_t frames) {
  Probe *p = h;
  atomic_fetch_add(&p->inside, 1);
  p->runner = pthread_self();
  p->runs++;
  if (get(p, REQUEST) != p->asked) {
    p->asked = get(p, REQUEST);
    p->schedule->schedule_work(p->schedule->handle, sizeof p->asked, &p->asked);
  }
  if (get(p, BANG) > 0) p->bangs++;
  events(p);
  char fresh[64];
  /* Hosts have room for so many: not a new one in each block of a long test. */
  snprintf(fresh, sizeof fresh, PREFIX "fresh-%d", p->runs % 64);
  const LV2_URID first = p->map->map(p->map->handle, fresh);
  set(p, MAPPED, first && first == p->map->map(p->map->handle, fresh) ? 1 : 0);
  if (p->runs == 2) ask_for_room(p);
  if (p->runs == 3) p->log->printf(p->log->handle, p->map->map(p->map->handle, LV2_LOG__Trace), "third %s", "run");
  set(p, ANSWER, p->answer.value);
  set(p, THREADED, p->answer.threaded);
  set(p, CYCLES, (float)p->cycles);
  set(p, BANGS, (float)p->bangs);
  set(p, POSITIONS, (float)p->positions);
  set(p, LONGEST, p->longest);
  set(p, LATENCY, get(p, FRAMES));
  set(p, RESTORED, p->restored);
  atomic_fetch_add(&p->inside, 1);
}

static void destroy(LV2_Handle h) { free(h); }

static LV2_Worker_Status work(LV2_Handle h, LV2_Worker_Respond_Function respond, LV2_Worker_Respond_Handle handle,
                              uint32_t size, const void *data) {
  Probe *p = h;
  if (*(const float *)data == 10) return LV2_WORKER_ERR_UNKNOWN; /* as for a file that is gone */
  float answer[2] = {*(const float *)data * 2, p->runs && !pthread_equal(p->runner, pthread_self())};
  return respond(handle, sizeof answer, answer);
}

static LV2_Worker_Status work_response(LV2_Handle h, uint32_t size, const void *body) {
  memcpy(&((Probe *)h)->answer, body, size);
  return LV2_WORKER_SUCCESS;
}

static LV2_Worker_Status end_run(LV2_Handle h) {
  ((Probe *)h)->cycles++;
  return LV2_WORKER_SUCCESS;
}

static LV2_State_Status save(LV2_Handle h, LV2_State_Store_Function store, LV2_State_Handle handle, uint32_t flags,
                             const LV2_Feature *const *features) {
  Probe *p = h;
  return store(handle, p->map->map(p->map->handle, PREFIX "value"), &p->restored, sizeof p->restored,
               p->map->map(p->map->handle, LV2_ATOM__Float), LV2_STATE_IS_POD | LV2_STATE_IS_PORTABLE);
}

static LV2_State_Status restore(LV2_Handle h, LV2_State_Retrieve_Function retrieve, LV2_State_Handle handle,
                                uint32_t flags, const LV2_Feature *const *features) {
  Probe *p = h;
  size_t size = 0;
  uint32_t type = 0, value_flags = 0;
  const void *value = retrieve(handle, p->map->map(p->map->handle, PREFIX "value"), &size, &type, &value_flags);
  if (value && size == sizeof p->restored) memcpy(&p->restored, value, size);
  /* Whether run was not over, or is called meanwhile: a millisecond is many blocks for a loop that does not wait. */
  const int before = atomic_load(&p->inside);
  if (before) usleep(1000);
  const int clashes = before % 2 != 0 || atomic_load(&p->inside) != before;
  p->log->printf(p->log->handle, p->map->map(p->map->handle, LV2_LOG__Trace), "restored %g%s", p->restored,
                 clashes ? " while it runs" : "");
  return LV2_STATE_SUCCESS;
}

/* The longest block, told later. Takes it and heeds it not while it is asked for 9. */
static uint32_t options_set(LV2_Handle h, const LV2_Options_Option *options) {
  Probe *p = h;
  if (p->asked == 9) return LV2_OPTIONS_SUCCESS;
  const LV2_URID longest = p->map->map(p->map->handle, LV2_BUF_SIZE__maxBlockLength);
  for (; options->key; options++)
    if (options->key == longest) p->longest = (float)*(const int32_t *)options->value;
  return LV2_OPTIONS_SUCCESS;
}

static uint32_t options_get(LV2_Handle h, LV2_Options_Option *options) {
  Probe *p = h;
  for (; options->key; options++) {
    if (options->key != p->map->map(p->map->handle, LV2_BUF_SIZE__maxBlockLength)) return LV2_OPTIONS_ERR_BAD_KEY;
    options->type = p->map->map(p->map->handle, LV2_ATOM__Int);
    options->size = sizeof p->told;
    p->told = (int32_t)p->longest;
    options->value = &p->told;
  }
  return LV2_OPTIONS_SUCCESS;
}

static const void *extension(const char *uri) {
  static const LV2_Worker_Interface worker = {work, work_response, end_run};
  static const LV2_State_Interface state = {save, restore};
  if (!strcmp(uri, LV2_WORKER__interface)) return &worker;
  static const LV2_Options_Interface options = {options_get, options_set};
  if (!strcmp(uri, LV2_STATE__interface)) return &state;
  if (!strcmp(uri, LV2_OPTIONS__interface)) return &options;
  return NULL;
}

/* The one with twins among its ports does nothing. */
static LV2_Handle make_twins(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *f) {
  return calloc(1, sizeof(Probe));
}

static void run_twins(LV2_Handle h, uint32_t frames) {}

static const LV2_Descriptor plugins[] = {
    {PREFIX "probe", make, connect, activate, run, NULL, destroy, extension},
    {PREFIX "refuser", refuse, connect, NULL, run, NULL, destroy, NULL},
    {PREFIX "twins", make_twins, connect, NULL, run_twins, NULL, destroy, NULL},
};

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) { return index < 3 ? &plugins[index] : NULL; }
