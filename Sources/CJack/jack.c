/* SPDX-License-Identifier: Apache-2.0 */
/* libjack, loaded while the program runs: which one it is, jackd's or
 * PipeWire's, is only known when it is known what runs. Each function that is
 * called stands here under its own name and passes the call on. */
#define _GNU_SOURCE
#include "shim.h"

#include "locks.h"
#include "properties.h"

#include <dlfcn.h>
#include <string.h>

#define CLIENT jack_client_t *client
#define PORT jack_port_t *port

#define VOIDS(CALL)                                                                                                \
  CALL(void, jack_free, (void *memory), (memory))                                                                  \
  CALL(void, jack_midi_clear_buffer, (void *buffer), (buffer))                                                     \
  CALL(void, jack_on_info_shutdown, (CLIENT, JackInfoShutdownCallback function, void *argument),                   \
       (client, function, argument))                                                                               \
  CALL(void, jack_on_shutdown, (CLIENT, JackShutdownCallback function, void *argument),                            \
       (client, function, argument))                                                                               \
  CALL(void, jack_port_get_latency_range,                                                                          \
       (PORT, jack_latency_callback_mode_t mode, jack_latency_range_t *range), (port, mode, range))                \
  CALL(void, jack_port_set_latency_range,                                                                          \
       (PORT, jack_latency_callback_mode_t mode, jack_latency_range_t *range), (port, mode, range))                \
  CALL(void, jack_set_error_function, (void (*function)(const char *)), (function))                                \
  CALL(void, jack_set_info_function, (void (*function)(const char *)), (function))

#define VALUES(CALL)                                                                                               \
  CALL(int, jack_activate, (CLIENT), (client))                                                                     \
  CALL(int, jack_client_close, (CLIENT), (client))                                                                 \
  CALL(int, jack_client_create_thread,                                                                             \
       (CLIENT, jack_native_thread_t * thread, int priority, int realtime, void *(*start)(void *), void *argument), \
       (client, thread, priority, realtime, start, argument))                                                      \
  CALL(int, jack_client_name_size, (void), ())                                                                     \
  CALL(int, jack_client_real_time_priority, (CLIENT), (client))                                                    \
  CALL(int, jack_client_stop_thread, (CLIENT, jack_native_thread_t thread), (client, thread))                      \
  CALL(int, jack_connect, (CLIENT, const char *from, const char *to), (client, from, to))                          \
  CALL(float, jack_cpu_load, (CLIENT), (client))                                                                   \
  CALL(int, jack_deactivate, (CLIENT), (client))                                                                   \
  CALL(int, jack_disconnect, (CLIENT, const char *from, const char *to), (client, from, to))                       \
  CALL(jack_nframes_t, jack_get_buffer_size, (CLIENT), (client))                                                   \
  CALL(char *, jack_get_client_name, (CLIENT), (client))                                                           \
  CALL(int, jack_get_cycle_times,                                                                                  \
       (const jack_client_t *client, jack_nframes_t *frames, jack_time_t *begin, jack_time_t *next, float *period), \
       (client, frames, begin, next, period))                                                                      \
  CALL(const char **, jack_get_ports,                                                                              \
       (CLIENT, const char *name, const char *type, unsigned long flags), (client, name, type, flags))             \
  CALL(jack_nframes_t, jack_get_sample_rate, (CLIENT), (client))                                                   \
  CALL(jack_time_t, jack_get_time, (void), ())                                                                     \
  CALL(char *, jack_get_uuid_for_client_name, (CLIENT, const char *name), (client, name))                          \
  CALL(const char *, jack_get_version_string, (void), ())                                                          \
  CALL(float, jack_get_xrun_delayed_usecs, (CLIENT), (client))                                                     \
  CALL(int, jack_is_realtime, (CLIENT), (client))                                                                  \
  CALL(jack_nframes_t, jack_last_frame_time, (const jack_client_t *client), (client))                              \
  CALL(int, jack_midi_event_get, (jack_midi_event_t * event, void *buffer, uint32_t index),                        \
       (event, buffer, index))                                                                                     \
  CALL(int, jack_midi_event_write,                                                                                 \
       (void *buffer, jack_nframes_t frame, const jack_midi_data_t *data, size_t size),                            \
       (buffer, frame, data, size))                                                                                \
  CALL(uint32_t, jack_midi_get_event_count, (void *buffer), (buffer))                                              \
  CALL(jack_port_t *, jack_port_by_id, (CLIENT, jack_port_id_t id), (client, id))                                  \
  CALL(jack_port_t *, jack_port_by_name, (CLIENT, const char *name), (client, name))                               \
  CALL(int, jack_port_connected, (const jack_port_t *port), (port))                                                \
  CALL(int, jack_port_connected_to, (const jack_port_t *port, const char *name), (port, name))                     \
  CALL(const char **, jack_port_get_all_connections, (const jack_client_t *client, const jack_port_t *port),       \
       (client, port))                                                                                             \
  CALL(void *, jack_port_get_buffer, (PORT, jack_nframes_t frames), (port, frames))                                \
  CALL(int, jack_port_name_size, (void), ())                                                                       \
  CALL(int, jack_port_flags, (const jack_port_t *port), (port))                                                    \
  CALL(const char *, jack_port_name, (const jack_port_t *port), (port))                                            \
  CALL(jack_port_t *, jack_port_register,                                                                          \
       (CLIENT, const char *name, const char *type, unsigned long flags, unsigned long size),                      \
       (client, name, type, flags, size))                                                                          \
  CALL(int, jack_port_get_aliases, (const jack_port_t *port, char *const aliases[2]), (port, aliases))             \
  CALL(int, jack_port_unregister, (CLIENT, PORT), (client, port))                                                  \
  CALL(int, jack_recompute_total_latencies, (CLIENT), (client))                                                    \
  CALL(int, jack_set_buffer_size, (CLIENT, jack_nframes_t frames), (client, frames))                               \
  CALL(int, jack_set_buffer_size_callback, (CLIENT, JackBufferSizeCallback function, void *argument),              \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_client_registration_callback,                                                                 \
       (CLIENT, JackClientRegistrationCallback function, void *argument), (client, function, argument))            \
  CALL(int, jack_set_latency_callback, (CLIENT, JackLatencyCallback function, void *argument),                     \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_port_connect_callback, (CLIENT, JackPortConnectCallback function, void *argument),            \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_port_registration_callback, (CLIENT, JackPortRegistrationCallback function, void *argument),  \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_port_rename_callback, (CLIENT, JackPortRenameCallback function, void *argument),              \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_freewheel_callback, (CLIENT, JackFreewheelCallback function, void *argument),                 \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_process_callback, (CLIENT, JackProcessCallback function, void *argument),                     \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_sample_rate_callback, (CLIENT, JackSampleRateCallback function, void *argument),              \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_thread_init_callback, (CLIENT, JackThreadInitCallback function, void *argument),              \
       (client, function, argument))                                                                               \
  CALL(int, jack_set_xrun_callback, (CLIENT, JackXRunCallback function, void *argument),                           \
       (client, function, argument))                                                                               \
  CALL(jack_transport_state_t, jack_transport_query, (const jack_client_t *client, jack_position_t *position),     \
       (client, position))

#define MEMBER(RESULT, NAME, PARAMETERS, ARGUMENTS) __typeof__(NAME) *NAME;
#define TAKE(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  if (!(found.NAME = (__typeof__(NAME) *)find(handle, #NAME, interposed))) return #NAME;
#define PASS(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  RESULT NAME PARAMETERS { return calls.NAME ARGUMENTS; }
#define PASS_VOID(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  RESULT NAME PARAMETERS { calls.NAME ARGUMENTS; }

/* Changed only while there is no client. */
static struct calls {
  __typeof__(jack_client_open) *jack_client_open;
  VALUES(MEMBER)
  VOIDS(MEMBER)
} calls;

/* What was preloaded to look at the calls of a program goes before the library. */
static void *find(void *handle, const char *name, _Bool interposed) {
  void *found = interposed ? dlsym(RTLD_DEFAULT, name) : NULL;
  return found ? found : dlsym(handle, name);
}

/* The name of what is missing; NULL: all is there. */
static const char *take(void *handle, _Bool interposed) {
  struct calls found;
  if (!(found.jack_client_open = (__typeof__(jack_client_open) *)find(handle, "jack_client_open", interposed)))
    return "jack_client_open";
  VALUES(TAKE)
  VOIDS(TAKE)
  calls = found;
  return NULL;
}

const char *vg_jack_load(const char *path, _Bool interposed) {
  /* A libjack that the program itself is linked to must not answer what this one asks of itself. */
  int apart = dlsym(RTLD_DEFAULT, "jack_client_open") ? RTLD_DEEPBIND : 0;
  /* One that another part of the process has loaded may have clients that use properties. */
  void *others = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | apart);
  if (!handle) return dlerror();
  if (!others) vg_jack_refuse_properties(handle);
  vg_jack_keep_locks(handle);
  /* Never unloaded: its threads may outlive its clients. */
  return take(handle, interposed);
}

_Bool vg_jack_is_pipewire(void) { return strstr(calls.jack_get_version_string(), "PipeWire") != NULL; }

jack_client_t *vg_jack_open(const char *name, const char *server, _Bool exact, jack_status_t *status) {
  jack_options_t options = (jack_options_t)(JackNoStartServer | (exact ? JackUseExactName : 0));
  if (!server) return calls.jack_client_open(name, options, status);
  return calls.jack_client_open(name, (jack_options_t)(options | JackServerName), status, server);
}

/* Seen by this program only: a libjack must not call these in place of its own. */
#pragma GCC visibility push(hidden)
VALUES(PASS)
VOIDS(PASS_VOID)
#pragma GCC visibility pop
