/* SPDX-License-Identifier: Apache-2.0 */
/* Passes its audio on. Whenever its parameter changes, its next block takes as many blocks' time of the processor as the
 * parameter says: however often the thread is interrupted meanwhile, that much is its own. */
#define _POSIX_C_SOURCE 199309L
#include "common.h"
#include <stdlib.h>
#include <time.h>

static const vg_port ports[] = {
    {.symbol = "in", .kind = VG_AUDIO_PORT, .direction = VG_INPUT},
    {.symbol = "out", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT},
};

static const vg_parameter parameters[] = {
    {.key = "blocks", .unit = "", .maximum = 1000, .flags = VG_PARAM_ABRUPT},
};

static void *make(const vg_node_type *of, const vg_host *host, const vg_value *settings, vg_error *error) {
  (void)of, (void)host, (void)settings, (void)error;
  return calloc(1, sizeof(float));
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void process(void *processor, const vg_io *io, const vg_cycle *cycle) {
  float *known = processor;
  float blocks = io->parameters[0].target;
  if (blocks != *known) {
    double end = seconds() + blocks * cycle->frames / cycle->rate;
    while (seconds() < end) {
    }
    *known = blocks;
  }
  if (io->audio_out[0] != io->audio_in[0]) memcpy(io->audio_out[0], io->audio_in[0], cycle->frames * sizeof(float));
}

static const vg_node_type type = {
    .abi = VG_ABI_VERSION, .size = sizeof(vg_node_type), .name = "slow", .summary = "made for a test",
    .default_layout = {VG_ARRAY(ports), VG_ARRAY(parameters)}, .create = make, .destroy = free, .prepare = prepare,
    .process = process};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
