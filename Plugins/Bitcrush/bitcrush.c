/* SPDX-License-Identifier: Apache-2.0
 *
 * Fewer bits and fewer samples: an example of a node in plain C11. It needs one
 * header, <voicegraph/node.h>, and no library. */
#include <math.h>
#include <stdlib.h>
#include <voicegraph/node.h>

/* Both halves of the node: it has so little control that one struct does. */
typedef struct {
  float held;     /* the sample that is repeated */
  float progress; /* how far the next one is, 0 to 1 */
} bitcrush;

enum { BITS = 0, SHARE = 1 }; /* the parameters, in the order of the list below */

static const vg_port ports[] = {
    {.symbol = "in", .doc = "what to crush", .kind = VG_AUDIO_PORT, .direction = VG_INPUT},
    {.symbol = "out", .doc = "what is left", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT},
};

static const vg_parameter parameters[] = {
    [BITS] = {.key = "bits", .doc = "bits per sample, for 2^bits levels", .unit = "", .minimum = 1, .maximum = 24,
            .default_value = 8},
    [SHARE] = {.key = "share", .doc = "share of the samples that is kept", .unit = "", .minimum = 0.01f, .maximum = 1,
              .default_value = 1, .scale = VG_LOGARITHMIC},
};

/* Checks the settings (there are none) and makes the node. [control] */
static void *create(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
  (void)type, (void)host, (void)settings;
  bitcrush *node = calloc(1, sizeof *node);
  if (!node) strcpy(error->message, "out of memory");
  return node;
}

/* [control] */
static void destroy(void *node) { free(node); }

/* Returns what `process` will get. [control] */
static void *prepare(void *node, const vg_preparation *preparation, vg_error *error) {
  (void)preparation, (void)error;
  bitcrush *self = node;
  self->held = 0;
  self->progress = 1; /* so that the first sample is taken */
  return self;
}

/* The nearest of 2^bits levels as a converter has them in two's complement, from -1 to one level below 1: silence is
 * one of them. What lies beyond is the last level; what is no number stays that, for the host to see. [audio] */
static float crush(float sample, float bits) {
  float levels = floorf(exp2f(bits) + 0.5f); /* also between whole bits */
  float lowest = -floorf(levels / 2), highest = levels - 1 + lowest;
  float level = rintf(sample * (levels / 2));
  if (level < lowest) level = lowest;
  if (level > highest) level = highest;
  return level / (levels / 2);
}

/* One block: no allocation, no lock, no system call. [audio] */
static void process(void *processor, const vg_io *io, const vg_cycle *cycle) {
  bitcrush *self = processor;
  const float *in = io->audio_in[0];
  float *out = io->audio_out[0];
  if (*io->audio_in_silent[0] && self->held == 0) *io->audio_out_silent[0] = 1; /* what follows gives zeros */
  for (uint32_t i = 0; i < cycle->frames; i++) {
    if (self->progress >= 1) {
      self->held = crush(in[i], vg_ramp_at(&io->parameters[BITS], i));
      self->progress -= 1;
    }
    self->progress += vg_ramp_at(&io->parameters[SHARE], i);
    out[i] = self->held;
  }
}

static const vg_node_type type = {
    .abi = VG_ABI_VERSION,
    .size = sizeof(vg_node_type),
    .name = "bitcrush",
    .summary = "fewer bits and fewer samples",
    .flags = VG_IN_PLACE,
    .default_layout = {VG_ARRAY(ports), VG_ARRAY(parameters)},
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .process = process,
};

static const vg_node_type *const types[] = {&type};

static const vg_plugin plugin = {
    .abi = VG_ABI_VERSION,
    .size = sizeof(vg_plugin),
    .name = "bitcrush",
    .version = "1.0",
    .license = "Apache-2.0",
    .types = types,
    .type_count = 1,
};

/* The one symbol that the host looks for. [control] */
const vg_plugin *vg_plugin_entry(uint32_t host_abi) { return host_abi == VG_ABI_VERSION ? &plugin : NULL; }
