/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a JACK program: ends it when it calls the server on its audio thread or in any of JACK's callbacks.
 * Such a call fails at once in jackd, and takes milliseconds where it does not. With SERVER_CALLS set in the
 * environment it tells at the end what it saw, and SIGUSR2 makes the next process callback fail; with
 * SERVER_CALLS=plant it makes such a call itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jack/jack.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int inside; /* in a callback */
static _Thread_local int audio;  /* a thread that processes */
static atomic_ulong callbacks, calls;
static volatile sig_atomic_t failing;
static int planted;

/* A program that loads libjack while it runs has it for itself alone. */
static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) found = dlsym(dlopen("libjack.so.0", RTLD_LAZY), name);
  if (!found) {
    fprintf(stderr, "server-calls: no %s\n", name);
    abort();
  }
  return found;
}

static void look(const char *name) {
  atomic_fetch_add(&calls, 1);
  if (!inside && !audio) return;
  fprintf(stderr, "server-calls: %s called %s\n", name, inside ? "in a callback" : "on the audio thread");
  abort();
}

#define CALL(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  RESULT NAME PARAMETERS {                        \
    static RESULT(*real) PARAMETERS;              \
    look(#NAME);                                  \
    if (!real) real = next(#NAME);                \
    return real ARGUMENTS;                        \
  }

CALL(int, jack_activate, (jack_client_t * c), (c))
CALL(int, jack_deactivate, (jack_client_t * c), (c))
CALL(int, jack_client_close, (jack_client_t * c), (c))
CALL(int, jack_connect, (jack_client_t * c, const char *a, const char *b), (c, a, b))
CALL(int, jack_disconnect, (jack_client_t * c, const char *a, const char *b), (c, a, b))
CALL(int, jack_port_disconnect, (jack_client_t * c, jack_port_t *p), (c, p))
CALL(int, jack_port_unregister, (jack_client_t * c, jack_port_t *p), (c, p))
CALL(int, jack_port_rename, (jack_client_t * c, jack_port_t *p, const char *n), (c, p, n))
CALL(int, jack_port_request_monitor, (jack_port_t * p, int on), (p, on))
CALL(int, jack_recompute_total_latencies, (jack_client_t * c), (c))
CALL(int, jack_set_buffer_size, (jack_client_t * c, jack_nframes_t n), (c, n))
CALL(int, jack_set_freewheel, (jack_client_t * c, int on), (c, on))
CALL(
    jack_port_t *, jack_port_register,
    (jack_client_t * c, const char *n, const char *t, unsigned long f, unsigned long s), (c, n, t, f, s))

/* What was set, kept for ever: a callback may still run after its successor was set. */
struct hook {
  void (*function)(void);
  void *argument;
};

static struct hook *hook(void *function, void *argument) {
  struct hook *made = malloc(sizeof *made);
  if (!made) abort();
  made->function = (void (*)(void))function;
  made->argument = argument;
  return made;
}

/* NAME sets a callback of type TYPE, which is called with VALUES and gives RESULT. */
#define HOOK(SETS, NAME, TYPE, RESULT, PARAMETERS, VALUES, BEFORE, AFTER)       \
  static RESULT on_##NAME PARAMETERS {                                         \
    struct hook *hook = argument;                                              \
    atomic_fetch_add_explicit(&callbacks, 1, memory_order_relaxed);            \
    inside++;                                                                  \
    BEFORE((TYPE)hook->function) VALUES;                                       \
    inside--;                                                                  \
    AFTER;                                                                     \
  }                                                                            \
  SETS NAME(jack_client_t *client, TYPE callback, void *argument) {            \
    static SETS (*real)(jack_client_t *, TYPE, void *);                        \
    if (!real) real = next(#NAME);                                             \
    return real(client, callback ? on_##NAME : NULL, hook((void *)callback, argument)); \
  }
#define GIVES int result =
#define NOTHING
#define FORMAT (jack_nframes_t frames, void *argument)

HOOK(int, jack_set_buffer_size_callback, JackBufferSizeCallback, int, FORMAT, (frames, hook->argument), GIVES,
     return result)
HOOK(int, jack_set_sample_rate_callback, JackSampleRateCallback, int, FORMAT, (frames, hook->argument), GIVES,
     return result)
HOOK(int, jack_set_xrun_callback, JackXRunCallback, int, (void *argument), (hook->argument), GIVES, return result)
HOOK(int, jack_set_graph_order_callback, JackGraphOrderCallback, int, (void *argument), (hook->argument), GIVES,
     return result)
HOOK(int, jack_set_port_registration_callback, JackPortRegistrationCallback, void,
     (jack_port_id_t port, int made, void *argument), (port, made, hook->argument), NOTHING, return)
HOOK(int, jack_set_port_connect_callback, JackPortConnectCallback, void,
     (jack_port_id_t a, jack_port_id_t b, int made, void *argument), (a, b, made, hook->argument), NOTHING, return)
HOOK(int, jack_set_latency_callback, JackLatencyCallback, void,
     (jack_latency_callback_mode_t mode, void *argument), (mode, hook->argument), NOTHING, return)
HOOK(int, jack_set_thread_init_callback, JackThreadInitCallback, void, (void *argument), (hook->argument), NOTHING,
     return)
HOOK(void, jack_on_shutdown, JackShutdownCallback, void, (void *argument), (hook->argument), NOTHING, return)
HOOK(void, jack_on_info_shutdown, JackInfoShutdownCallback, void,
     (jack_status_t code, const char *reason, void *argument), (code, reason, hook->argument), NOTHING, return)

static int on_process(jack_nframes_t frames, void *argument) {
  struct hook *hook = argument;
  atomic_fetch_add_explicit(&callbacks, 1, memory_order_relaxed);
  inside++;
  audio = 1;
  if (planted) jack_connect(NULL, "", "");
  int result = ((JackProcessCallback)hook->function)(frames, hook->argument);
  inside--;
  if (!failing) return result;
  failing = 0;
  return 1;
}

int jack_set_process_callback(jack_client_t *client, JackProcessCallback callback, void *argument) {
  static int (*real)(jack_client_t *, JackProcessCallback, void *);
  if (!real) real = next("jack_set_process_callback");
  return real(client, callback ? on_process : NULL, hook((void *)callback, argument));
}

static void fail(int signal) {
  (void)signal;
  failing = 1;
}

static void tell(void) {
  fprintf(stderr, "server-calls: %lu callbacks, %lu calls\n", atomic_load(&callbacks), atomic_load(&calls));
}

__attribute__((constructor)) static void start(void) {
  const char *wanted = getenv("SERVER_CALLS");
  if (!wanted) return;
  planted = strcmp(wanted, "plant") == 0;
  signal(SIGUSR2, fail);
  atexit(tell);
}
