/* SPDX-License-Identifier: Apache-2.0
 *
 * An amplifier at half volume that does what the last part of its URI says. */
#include <lv2/core/lv2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "urn:voicegraph:broken:"

typedef struct {
  const char *fault;
  const float *in;
  float *out;
} Plugin;

/* Whatever handles signals in this process is not to soften a crash. */
static void crash(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

static int is(const char *fault, const char *name) { return !strcmp(fault, name); }

static LV2_Handle make(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *features) {
  const char *fault = d->URI + strlen(PREFIX);
  if (is(fault, "crash-instantiate")) crash(SIGSEGV);
  if (is(fault, "abort-instantiate")) {
    fprintf(stderr, "cannot open the display\n");
    crash(SIGABRT);
  }
  if (is(fault, "exit-instantiate")) exit(3);
  if (is(fault, "loop-instantiate"))
    for (volatile int forever = 1; forever;) {}
  Plugin *plugin = calloc(1, sizeof *plugin);
  plugin->fault = fault;
  return plugin;
}

static void connect(LV2_Handle h, uint32_t port, void *data) {
  Plugin *plugin = h;
  /* Some hosts connect all ports to nothing first. */
  if (data && is(plugin->fault, "crash-connect_port")) crash(SIGBUS);
  if (port == 0) plugin->in = data;
  if (port == 1) plugin->out = data;
}

static void activate(LV2_Handle h) {
  if (is(((Plugin *)h)->fault, "crash-activate")) crash(SIGFPE);
}

static void run(LV2_Handle h, uint32_t frames) {
  Plugin *plugin = h;
  if (is(plugin->fault, "crash-run")) crash(SIGSEGV);
  if (is(plugin->fault, "exit-run")) exit(0);
  if (is(plugin->fault, "loop-run"))
    for (volatile int forever = 1; forever;) {}
  for (uint32_t i = 0; i < frames; i++) plugin->out[i] = 0.5f * plugin->in[i];
}

static void deactivate(LV2_Handle h) {
  if (is(((Plugin *)h)->fault, "crash-deactivate")) crash(SIGILL);
}

static void cleanup(LV2_Handle h) {
  if (is(((Plugin *)h)->fault, "crash-cleanup")) crash(SIGSEGV);
  free(h);
}

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) {
  static const char *const uris[] = {
      PREFIX "crash-instantiate", PREFIX "abort-instantiate", PREFIX "exit-instantiate", PREFIX "loop-instantiate",
      PREFIX "crash-connect_port", PREFIX "crash-activate", PREFIX "crash-run", PREFIX "exit-run", PREFIX "loop-run",
      PREFIX "crash-deactivate", PREFIX "crash-cleanup", PREFIX "good"};
  static LV2_Descriptor plugins[sizeof uris / sizeof *uris];
  if (index >= sizeof uris / sizeof *uris) return NULL;
  plugins[index] = (LV2_Descriptor){uris[index], make, connect, activate, run, deactivate, cleanup, NULL};
  return &plugins[index];
}
