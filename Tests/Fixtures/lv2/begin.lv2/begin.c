/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that tells what it begins with: the values of its ports, what it was told of its properties, and how many
 * frames it has run. Built by the tests that load it. */
#include <lv2/atom/util.h>
#include <lv2/core/lv2.h>
#include <lv2/patch/patch.h>
#include <lv2/state/state.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "urn:voicegraph:test:begin"

enum { CONTROL, IN, OUT, AGE, DELAY, LATENCY, STRICT, SOFT, ON, GO, MOST_STRICT, MOST_SOFT, WAS_ON, FIRED, COUNT };

typedef struct {
  void *ports[COUNT];
  const LV2_URID_Map *map;
  const LV2_Worker_Schedule *schedule;
  float first, second, loaded, most_strict, most_soft;
  long age, fired;
  char path[1024];
} Begin;

static LV2_URID urid(Begin *b, const char *uri) { return b->map->map(b->map->handle, uri); }

static LV2_Handle make(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *features) {
  Begin *b = calloc(1, sizeof *b);
  for (; *features; features++) {
    if (!strcmp((*features)->URI, LV2_URID__map)) b->map = (*features)->data;
    if (!strcmp((*features)->URI, LV2_WORKER__schedule)) b->schedule = (*features)->data;
  }
  return b;
}

static void connect(LV2_Handle h, uint32_t port, void *data) {
  if (port < COUNT) ((Begin *)h)->ports[port] = data;
}

/* What it was told stays, as in every plugin with files; what has run is forgotten. */
static void activate(LV2_Handle h) {
  Begin *b = h;
  b->age = b->fired = 0;
  b->most_strict = b->most_soft = 0;
}

static void hear(Begin *b) {
  const LV2_Atom_Sequence *in = b->ports[CONTROL];
  LV2_ATOM_SEQUENCE_FOREACH(in, e) {
    const LV2_Atom_Object *o = (const LV2_Atom_Object *)&e->body;
    if (o->body.otype != urid(b, LV2_PATCH__Set)) continue;
    const LV2_Atom *property = NULL, *value = NULL;
    lv2_atom_object_get(o, urid(b, LV2_PATCH__property), &property, urid(b, LV2_PATCH__value), &value, 0);
    if (!property || !value) continue;
    const LV2_URID key = ((const LV2_Atom_URID *)property)->body;
    if (key == urid(b, BEGIN ":first")) b->first = ((const LV2_Atom_Float *)value)->body;
    if (key == urid(b, BEGIN ":second")) b->second = ((const LV2_Atom_Float *)value)->body;
    if (key == urid(b, BEGIN ":file")) b->schedule->schedule_work(b->schedule->handle, value->size, value + 1);
  }
}

static void run(LV2_Handle h, uint32_t frames) {
  Begin *b = h;
  hear(b);
  float **p = (float **)b->ports;
  if (*p[STRICT] > b->most_strict) b->most_strict = *p[STRICT];
  if (*p[SOFT] > b->most_soft) b->most_soft = *p[SOFT];
  if (*p[GO] > 0.5f) b->fired++;
  for (uint32_t i = 0; i < frames; i++) {
    p[OUT][i] = b->first + 10 * b->second + 100 * b->loaded;
    p[AGE][i] = (float)b->age++;
  }
  *p[LATENCY] = *p[DELAY];
  *p[MOST_STRICT] = b->most_strict;
  *p[MOST_SOFT] = b->most_soft;
  *p[WAS_ON] = *p[ON];
  *p[FIRED] = (float)b->fired;
}

static LV2_Worker_Status work(LV2_Handle h, LV2_Worker_Respond_Function respond, LV2_Worker_Respond_Handle handle,
                              uint32_t size, const void *data) {
  return respond(handle, size, data);
}

static LV2_Worker_Status work_response(LV2_Handle h, uint32_t size, const void *body) {
  Begin *b = h;
  if (size < sizeof b->path) memcpy(b->path, body, size);
  b->loaded = 1;
  return LV2_WORKER_SUCCESS;
}

static LV2_State_Status save(LV2_Handle h, LV2_State_Store_Function store, LV2_State_Handle handle, uint32_t flags,
                             const LV2_Feature *const *features) {
  Begin *b = h;
  return store(handle, urid(b, BEGIN ":file"), b->path, strlen(b->path) + 1, urid(b, LV2_ATOM__String),
               LV2_STATE_IS_POD | LV2_STATE_IS_PORTABLE);
}

static LV2_State_Status restore(LV2_Handle h, LV2_State_Retrieve_Function retrieve, LV2_State_Handle handle,
                                uint32_t flags, const LV2_Feature *const *features) {
  Begin *b = h;
  size_t size = 0;
  uint32_t type = 0, value_flags = 0;
  const char *path = retrieve(handle, urid(b, BEGIN ":file"), &size, &type, &value_flags);
  if (path && size > 1 && size < sizeof b->path) work_response(h, (uint32_t)size, path);
  return LV2_STATE_SUCCESS;
}

static void destroy(LV2_Handle h) { free(h); }

static const void *extension(const char *uri) {
  static const LV2_Worker_Interface worker = {work, work_response, NULL};
  static const LV2_State_Interface state = {save, restore};
  if (!strcmp(uri, LV2_WORKER__interface)) return &worker;
  if (!strcmp(uri, LV2_STATE__interface)) return &state;
  return NULL;
}

static const LV2_Descriptor plugin = {BEGIN, make, connect, activate, run, NULL, destroy, extension};

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) { return index ? NULL : &plugin; }
