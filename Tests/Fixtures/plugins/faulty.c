/* SPDX-License-Identifier: Apache-2.0 */
/* Passes its input on, and breaks the one promise that its setting `fault` names. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <voicegraph/node.h>

enum { DELAY = 100 };

typedef struct {
  const vg_host *host;
  char fault[32];
  float kept, line[DELAY];
  int at;
  pthread_mutex_t lock;
} faulty;

static void *volatile sink;

static int is(const faulty *node, const char *fault) { return strcmp(node->fault, fault) == 0; }

static void *create(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
  (void)type;
  faulty *node = calloc(1, sizeof *node);
  node->host = host;
  pthread_mutex_init(&node->lock, NULL);
  for (uint32_t i = 0; i < settings->count; i++)
    if (strcmp(settings->items[i].key, "fault") == 0)
      snprintf(node->fault, sizeof node->fault, "%s", settings->items[i].value.string);
  if (is(node, "refuse")) {
    strcpy(error->message, "there is no moon tonight");
    free(node);
    return NULL;
  }
  return node;
}

static void destroy(void *of) {
  faulty *node = of;
  if (is(node, "leak")) sink = malloc(5000);
  if (is(node, "file")) sink = fopen("/dev/null", "r");
  free(node);
}

static void *prepare(void *of, const vg_preparation *preparation, vg_error *error) {
  faulty *node = of;
  if (is(node, "rate") && preparation->rate > 100000) {
    strcpy(error->message, "that is too fast");
    return NULL;
  }
  if (!is(node, "keep")) {
    node->kept = 0;
    node->at = 0;
    memset(node->line, 0, sizeof node->line);
  }
  return node;
}

__attribute__((noinline)) void faulty_allocates(void) {
  void *memory = malloc(100);
  sink = memory;
  free(memory);
}

static void process(void *processor, const vg_io *io, const vg_cycle *cycle) {
  faulty *node = processor;
  const float *in = io->audio_in[0];
  float *out = io->audio_out[0];
  uint32_t frames = cycle->frames;
  float gain = io->parameters[0].target;
  if (is(node, "crash")) raise(11);
  if (is(node, "hang")) for (;;) sleep(1);
  if (is(node, "allocate")) faulty_allocates();
  if (is(node, "lock")) {
    pthread_mutex_lock(&node->lock);
    pthread_mutex_unlock(&node->lock);
  }
  if (is(node, "print")) printf("here I am\n");
  if (is(node, "wait")) usleep(1);
  if (is(node, "late") || is(node, "keep")) {
    for (uint32_t i = 0; i < frames; i++) {
      float sample = in[i];
      out[i] = node->line[node->at];
      node->line[node->at] = sample;
      node->at = (node->at + 1) % DELAY;
    }
    return;
  }
  if (is(node, "block")) {
    node->kept += (1 - node->kept) * 0.1f;
    for (uint32_t i = 0; i < frames; i++) out[i] = in[i] * node->kept;
    return;
  }
  if (is(node, "shared")) {
    for (uint32_t i = 0; i < frames; i++) out[i] = in[0];
    for (uint32_t i = 0; i < frames; i++) out[i] += in[i] * 0.5f;
    return;
  }
  if (is(node, "poison") || is(node, "tail")) {
    for (uint32_t i = 0; i < frames; i++) {
      node->kept = node->kept * 0.99f + in[i];
      out[i] = node->kept;
      if (is(node, "tail") && fabsf(out[i]) < 1e-20f) {
        uint32_t tiny = 1;
        memcpy(&out[i], &tiny, 4);
      }
    }
    return;
  }
  for (uint32_t i = 0; i < frames; i++) out[i] = in[i] * gain;
  if (is(node, "short") && frames > 1) memcpy(&out[frames - 1], &(uint32_t){0x7FD55AA5}, 4);
  if (is(node, "beyond")) out[frames] = 1;
  if (is(node, "silent")) *io->audio_out_silent[0] = 1;
  if (is(node, "divide")) out[0] = gain == 2 ? 1 / (gain - 2) : out[0];
  if (is(node, "loud") && gain == 2) out[0] = 1e9f;
}

static void poll(void *of) {
  faulty *node = of;
  if (!is(node, "undeclared")) return;
  vg_event event = {.size = sizeof event, .name = "surprise"};
  node->host->publish(node->host->handle, &event);
}

static uint32_t latency(void *of) { return is(of, "late") ? 40 : is(of, "keep") ? DELAY : 0; }

static const vg_setting settings[] = {{.key = "fault", .doc = "what is wrong", .kind = VG_SET_STRING}};
static const vg_port ports[] = {
    {.symbol = "in", .doc = "in", .kind = VG_AUDIO_PORT, .direction = VG_INPUT},
    {.symbol = "out", .doc = "out", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT},
};
static const vg_parameter parameters[] = {
    {.key = "gain", .doc = "factor", .minimum = 0, .maximum = 2, .default_value = 1, .flags = VG_PARAM_ABRUPT}};

static const vg_node_type type = {
    .abi = VG_ABI_VERSION,
    .size = sizeof(vg_node_type),
    .name = "faulty",
    .summary = "breaks a promise",
    .flags = VG_IN_PLACE,
    .default_layout = {VG_ARRAY(ports), VG_ARRAY(parameters)},
    .settings = VG_ARRAY(settings),
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .process = process,
    .poll = poll,
    .latency = latency,
};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {
    .abi = VG_ABI_VERSION,
    .size = sizeof(vg_plugin),
    .name = "faulty",
    .version = "1.0",
    .license = "Apache-2.0",
    .types = types,
    .type_count = 1,
};
const vg_plugin *vg_plugin_entry(uint32_t host_abi) { return host_abi == VG_ABI_VERSION ? &plugin : NULL; }
