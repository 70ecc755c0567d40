/* SPDX-License-Identifier: Apache-2.0
 *
 * libjack as Swift sees it, loaded when it is needed: jack_client_open is
 * variadic, and what the process callback calls must be known as safe for the
 * audio thread. Only what jack.c passes on can be called. */
#ifndef VOICEGRAPH_JACK_H
#define VOICEGRAPH_JACK_H

#include <jack/jack.h>
#include <jack/midiport.h>
#include <jack/statistics.h>
#include <jack/thread.h>
#include <jack/transport.h>
#include <jack/types.h>
#include <pthread.h>

#define VG_JACK_AUDIO __attribute__((swift_attr("@_noLocks")))

/* Has all calls go to the libjack at `path`, a name as dlopen takes it, from
 * now on; before the first time none may be made, and while there is a client
 * it must not change. `interposed`: what was preloaded goes before it. NULL,
 * or what is wrong with it; then nothing has changed. [control] */
const char *vg_jack_load(const char *path, _Bool interposed);

/* Whether the libjack that is called is PipeWire's. [control] */
_Bool vg_jack_is_pipewire(void);

/* Opens a client without ever starting a server. `server` NULL: the one that
 * $JACK_DEFAULT_SERVER names, else "default". `exact`: fail rather than take
 * another name. [control] */
jack_client_t *vg_jack_open(const char *name, const char *server, _Bool exact, jack_status_t *status);

/* What the process callback calls: documented as safe there, and lock-free in
 * jackd2 and PipeWire alike. [audio] */
VG_JACK_AUDIO static inline void *vg_jack_buffer(jack_port_t *port, jack_nframes_t frames) {
  return jack_port_get_buffer(port, frames);
}
VG_JACK_AUDIO static inline jack_nframes_t vg_jack_frame_time(const jack_client_t *client) {
  return jack_last_frame_time(client);
}
/* Microseconds from the beginning of this cycle to now; 0: not known. */
VG_JACK_AUDIO static inline uint32_t vg_jack_delay(const jack_client_t *client) {
  jack_nframes_t frames;
  jack_time_t begin, next;
  float period;
  if (jack_get_cycle_times(client, &frames, &begin, &next, &period) != 0) return 0;
  jack_time_t now = jack_get_time();
  return now > begin && now - begin < 0xffffffffu ? (uint32_t)(now - begin) : 0;
}
VG_JACK_AUDIO static inline jack_transport_state_t vg_jack_transport(
    const jack_client_t *client, jack_position_t *position) {
  return jack_transport_query(client, position);
}
VG_JACK_AUDIO static inline uint32_t vg_jack_midi_count(void *buffer) { return jack_midi_get_event_count(buffer); }
VG_JACK_AUDIO static inline int vg_jack_midi_get(jack_midi_event_t *event, void *buffer, uint32_t index) {
  return jack_midi_event_get(event, buffer, index);
}
VG_JACK_AUDIO static inline void vg_jack_midi_clear(void *buffer) { jack_midi_clear_buffer(buffer); }
VG_JACK_AUDIO static inline int vg_jack_midi_write(
    void *buffer, jack_nframes_t frame, const jack_midi_data_t *data, size_t size) {
  return jack_midi_event_write(buffer, frame, data, size);
}

/* libjack ends its threads where they are when a client is closed. Between these
 * two it waits for the thread that calls them: one that is ended while it has a
 * lock, that of the memory's allocator too, has it for ever. Not for the audio
 * thread, which takes none: a node that hangs in it is ended with it. [libjack] */
static inline int vg_jack_stay(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}
static inline void vg_jack_unstay(int before) { pthread_setcancelstate(before, NULL); }

/* Fields of a packed struct, which Swift cannot read in place. [audio] */
VG_JACK_AUDIO static inline _Bool vg_jack_has_beat(const jack_position_t *position) {
  return (position->valid & JackPositionBBT) != 0;
}
VG_JACK_AUDIO static inline double vg_jack_tempo(const jack_position_t *position) { return position->beats_per_minute; }
VG_JACK_AUDIO static inline double vg_jack_beats_per_bar(const jack_position_t *position) {
  return position->beats_per_bar;
}
VG_JACK_AUDIO static inline double vg_jack_beat_type(const jack_position_t *position) { return position->beat_type; }
/* Beats since the start of the song. */
VG_JACK_AUDIO static inline double vg_jack_beat(const jack_position_t *position) {
  double tick = position->ticks_per_beat > 0 ? position->tick / position->ticks_per_beat : 0;
  return (position->bar - 1) * (double)position->beats_per_bar + (position->beat - 1) + tick;
}

#endif
