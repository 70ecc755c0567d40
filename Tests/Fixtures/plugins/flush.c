/* SPDX-License-Identifier: Apache-2.0 */
/* Gives 0.5 on a thread that takes denormals for zeros, in what it reads and in what it computes, and 0.25 elsewhere. */
#include "common.h"

static const vg_port ports[] = {{.symbol = "out", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT}};

static void process(void *processor, const vg_io *io, const vg_cycle *cycle) {
  (void)processor;
  volatile float small = 1e-30f, denormal = 1e-40f;
  volatile float product = small * 1e-10f, doubled = denormal * 2;
  float value = product == 0 && doubled == 0 ? 0.5f : 0.25f;
  for (uint32_t frame = 0; frame < cycle->frames; frame++) io->audio_out[0][frame] = value;
}

static const vg_node_type type = {SOUND_TYPE("flush"), .default_layout = {.ports = VG_ARRAY(ports)}, .process = process};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
