/* SPDX-License-Identifier: Apache-2.0
 *
 * An amplifier at half volume that does what the last part of its URI says. */
#include <lv2/core/lv2.h>
#include <lv2/state/state.h>
#include <lv2/worker/worker.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX "urn:voicegraph:broken:"

typedef struct {
  const char *fault;
  const float *in;
  float *out;
  const LV2_Worker_Schedule *schedule;
  pthread_t thread;
} Plugin;

/* Whatever handles signals in this process is not to soften a crash. */
static void crash(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

static int is(const char *fault, const char *name) { return !strcmp(fault, name); }

/* A thread like those that read samples: it takes its time, then waits for more to do. */
static atomic_int late_done;
static sem_t late_more;

static void *late_work(void *unused) {
  volatile unsigned busy = 0;
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 1000; i++) busy++;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 50);
  late_done = 1;
  while (sem_wait(&late_more)) {}
  return NULL;
}

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
  for (; *features; features++)
    if (!strcmp((*features)->URI, LV2_WORKER__schedule)) plugin->schedule = (*features)->data;
  if (is(fault, "late-thread")) {
    late_done = 0;
    sem_init(&late_more, 0, 0);
    pthread_create(&plugin->thread, NULL, late_work, NULL);
  }
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
  if (strstr(plugin->fault, "-work")) plugin->schedule->schedule_work(plugin->schedule->handle, 4, "work");
  for (uint32_t i = 0; i < frames; i++) plugin->out[i] = 0.5f * plugin->in[i];
}

static void deactivate(LV2_Handle h) {
  if (is(((Plugin *)h)->fault, "crash-deactivate")) crash(SIGILL);
}

static void cleanup(LV2_Handle h) {
  if (is(((Plugin *)h)->fault, "crash-cleanup")) crash(SIGSEGV);
  if (is(((Plugin *)h)->fault, "late-thread")) {
    if (!late_done) __builtin_trap();  /* also where signals are blocked */
    sem_post(&late_more);
    pthread_join(((Plugin *)h)->thread, NULL);
  }
  free(h);
}

static LV2_Worker_Status work(LV2_Handle h, LV2_Worker_Respond_Function respond, LV2_Worker_Respond_Handle handle,
                              uint32_t size, const void *data) {
  const char *fault = ((Plugin *)h)->fault;
  if (is(fault, "crash-work")) {
    int *volatile nowhere = NULL;
    *nowhere = 1; /* signals that are raised may be blocked on this thread */
  }
  if (is(fault, "loop-work"))
    for (volatile int forever = 1; forever;) {}
  return respond(handle, size, data);
}

static LV2_Worker_Status work_response(LV2_Handle h, uint32_t size, const void *body) {
  if (is(((Plugin *)h)->fault, "crash-work_response")) crash(SIGBUS);
  return LV2_WORKER_SUCCESS;
}

static LV2_Worker_Status end_run(LV2_Handle h) {
  if (is(((Plugin *)h)->fault, "crash-end_run")) crash(SIGFPE);
  return LV2_WORKER_SUCCESS;
}

static LV2_State_Status save(LV2_Handle h, LV2_State_Store_Function store, LV2_State_Handle handle, uint32_t flags,
                             const LV2_Feature *const *features) {
  if (is(((Plugin *)h)->fault, "crash-save")) crash(SIGABRT);
  return LV2_STATE_SUCCESS;
}

static LV2_State_Status restore(LV2_Handle h, LV2_State_Retrieve_Function retrieve, LV2_State_Handle handle,
                                uint32_t flags, const LV2_Feature *const *features) {
  if (is(((Plugin *)h)->fault, "crash-restore")) crash(SIGILL);
  return LV2_STATE_SUCCESS;
}

static const void *extension(const char *uri) {
  static const LV2_Worker_Interface worker = {work, work_response, end_run};
  static const LV2_State_Interface state = {save, restore};
  if (!strcmp(uri, LV2_WORKER__interface)) return &worker;
  return strcmp(uri, LV2_STATE__interface) ? NULL : &state;
}

static const void *no_extension(const char *uri) {
  crash(SIGTRAP);
  return NULL;
}

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) {
  static const char *const uris[] = {
      PREFIX "crash-instantiate", PREFIX "abort-instantiate", PREFIX "exit-instantiate", PREFIX "loop-instantiate",
      PREFIX "crash-connect_port", PREFIX "crash-activate", PREFIX "crash-run", PREFIX "exit-run", PREFIX "loop-run",
      PREFIX "crash-deactivate", PREFIX "crash-cleanup", PREFIX "late-thread", PREFIX "good",
      /* those with extensions */
      PREFIX "crash-extension_data", PREFIX "crash-work", PREFIX "loop-work", PREFIX "crash-work_response",
      PREFIX "crash-end_run", PREFIX "crash-save", PREFIX "crash-restore"};
  static LV2_Descriptor plugins[sizeof uris / sizeof *uris];
  if (index >= sizeof uris / sizeof *uris) return NULL;
  plugins[index] = (LV2_Descriptor){uris[index], make, connect, activate, run, deactivate, cleanup,
                                    is(uris[index], PREFIX "crash-extension_data") ? no_extension
                                    : index > 12 ? extension : NULL};
  return &plugins[index];
}
