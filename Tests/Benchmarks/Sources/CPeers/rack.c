// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <dlfcn.h>
#include <jack/jack.h>
#include <lv2/core/lv2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { longest = 8192 };

struct peer_rack {
  size_t count;
  void (*run)(LV2_Handle, uint32_t);
  LV2_Handle *handles;
  const LV2_Descriptor *descriptor;
  float gain;
  float buffers[2][longest];
  jack_port_t *input, *output;
  float *from, *to;
};

static void connect_ends(peer_rack *rack, float *from, float *to) {
  if (from != rack->from) rack->descriptor->connect_port(rack->handles[0], 1, from);
  if (to != rack->to) rack->descriptor->connect_port(rack->handles[rack->count - 1], 2, to);
  rack->from = from;
  rack->to = to;
}

peer_rack *peer_rack_new(const char *path, size_t count) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library || count == 0) return NULL;
  LV2_Descriptor_Function describe = (LV2_Descriptor_Function)dlsym(library, "lv2_descriptor");
  const LV2_Descriptor *descriptor = describe ? describe(0) : NULL;
  if (!descriptor) return NULL;
  peer_rack *rack = calloc(1, sizeof *rack);
  rack->count = count;
  rack->descriptor = descriptor;
  rack->run = descriptor->run;
  rack->handles = calloc(count, sizeof *rack->handles);
  const LV2_Feature *const none[] = {NULL};
  for (size_t index = 0; index < count; index++) {
    LV2_Handle handle = descriptor->instantiate(descriptor, 48000, "", none);
    if (!handle) return NULL;
    descriptor->connect_port(handle, 0, &rack->gain);
    descriptor->connect_port(handle, 1, rack->buffers[index % 2]);
    descriptor->connect_port(handle, 2, rack->buffers[(index + 1) % 2]);
    if (descriptor->activate) descriptor->activate(handle);
    rack->handles[index] = handle;
  }
  return rack;
}

static void run_rack(peer_rack *rack, uint32_t frames) {
  void (*run)(LV2_Handle, uint32_t) = rack->run;
  for (LV2_Handle *handle = rack->handles, *end = handle + rack->count; handle != end; handle++) run(*handle, frames);
}

void peer_rack_run(peer_rack *rack, size_t blocks) {
  for (size_t block = 0; block < blocks; block++) run_rack(rack, 128);
}

static int play(jack_nframes_t frames, void *argument) {
  peer_rack *rack = argument;
  if (frames > longest) return 0;
  connect_ends(rack, jack_port_get_buffer(rack->input, frames), jack_port_get_buffer(rack->output, frames));
  run_rack(rack, frames);
  return 0;
}

bool peer_rack_play(peer_rack *rack, const char *name, const char *server, unsigned seconds) {
  jack_client_t *client = jack_client_open(name, JackNoStartServer | JackServerName, NULL, server);
  if (!client) return false;
  rack->input = jack_port_register(client, "in", JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput, 0);
  rack->output = jack_port_register(client, "out", JACK_DEFAULT_AUDIO_TYPE, JackPortIsOutput, 0);
  jack_set_process_callback(client, play, rack);
  bool plays = rack->input && rack->output && jack_activate(client) == 0;
  if (plays) sleep(seconds);
  jack_client_close(client);
  return plays;
}
