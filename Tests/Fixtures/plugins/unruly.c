/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies by `gain`, gives events on, remembers a number, and on demand does what ends a process, or hangs, or gives nonsense. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <voicegraph/node.h>

typedef struct {
  const vg_host *host;
  char trouble_in[32];
  _Atomic int remembered;
  _Atomic int trouble; /* what `process` is to do */
  int preset;
  char word[32];
  char history[256]; /* what was set in this process, in order */
} unruly;

static const char *const troubles[] = {"none", "segv", "abort", "exit", "loop", "stop", "allocate", "nan", "inf", "late"};

static volatile int sink;
static void crash(void) { raise(SIGSEGV); }

static void make_trouble(const char *kind) {
  if (strcmp(kind, "segv") == 0) crash();
  if (strcmp(kind, "abort") == 0) {
    fprintf(stderr, "the sky is falling\n");
    abort();
  }
  if (strcmp(kind, "exit") == 0) exit(3);
  if (strcmp(kind, "loop") == 0)
    for (;;) sink++;
  if (strcmp(kind, "stop") == 0) {
    kill(getpid(), SIGSTOP);
    for (;;) sink++; /* until the stop has reached this thread */
  }
  if (strcmp(kind, "allocate") == 0)
    for (;;) {
      char *piece = malloc(1 << 20);
      memset(piece, 1, 1 << 20); /* a plugin that does not look whether there is any left */
    }
  if (strcmp(kind, "late") == 0) {
    struct timespec time = {0, 40000000};
    nanosleep(&time, NULL);
  }
}

static void trouble_in(unruly *node, const char *place) {
  size_t length = strlen(place);
  if (strncmp(node->trouble_in, place, length) == 0 && node->trouble_in[length] == ' ')
    make_trouble(node->trouble_in + length + 1);
}

static void *create(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
  (void)type;
  unruly *node = calloc(1, sizeof *node);
  node->host = host;
  for (uint32_t i = 0; i < settings->count; i++) {
    const vg_entry *entry = &settings->items[i];
    if (strcmp(entry->key, "trouble") == 0) snprintf(node->trouble_in, sizeof node->trouble_in, "%s", entry->value.string);
    if (strcmp(entry->key, "state") == 0) {
      char path[1024];
      snprintf(path, sizeof path, "%s/remembered", entry->value.string);
      FILE *file = fopen(path, "r");
      int value = 0;
      if (!file || fscanf(file, "%d", &value) != 1) {
        snprintf(error->message, sizeof error->message, "cannot read its state");
        snprintf(error->key, sizeof error->key, "state");
        if (file) fclose(file);
        free(node);
        return NULL;
      }
      fclose(file);
      node->remembered = value;
    }
  }
  trouble_in(node, "create");
  return node;
}

static void destroy(void *data) {
  trouble_in(data, "destroy");
  free(data);
}

static void *prepare(void *data, const vg_preparation *preparation, vg_error *error) {
  (void)preparation, (void)error;
  trouble_in(data, "prepare");
  return data;
}

static void activate(void *data) { trouble_in(data, "activate"); }

static void process(void *data, const vg_io *io, const vg_cycle *cycle) {
  unruly *node = data;
  int trouble = atomic_exchange(&node->trouble, 0);
  if (strcmp(node->word, "doom") == 0) crash();
  trouble_in(node, "process");
  if (trouble > 0) make_trouble(troubles[trouble]);
  for (uint32_t i = 0; i < cycle->frames; i++)
    io->audio_out[0][i] = io->audio_in[0][i] * vg_ramp_at(&io->parameters[0], i);
  if (trouble == 7) io->audio_out[0][cycle->frames / 2] = NAN;
  if (trouble == 8) io->audio_out[0][cycle->frames - 1] = INFINITY;
  io->control_out[0][0] = (float)node->remembered;
  for (uint32_t i = 0; i < io->midi_in[0]->count; i++) {
    const vg_midi_event *event = &io->midi_in[0]->events[i];
    vg_midi_write(io->midi_out[0], event->frame, io->midi_in[0]->bytes + event->offset, event->size);
  }
}

static void receive(void *data, uint32_t port, const vg_message *message) {
  unruly *node = data;
  if (message->kind != VG_MESSAGE_TEXT) return;
  if (strcmp(message->text, "who") == 0) {
    vg_entry fields[] = {
        {"process", {.kind = VG_INTEGER, .integer = getpid(), .number = getpid()}},
        {"remembered", {.kind = VG_INTEGER, .integer = node->remembered, .number = node->remembered}},
        {"preset", {.kind = VG_INTEGER, .integer = node->preset, .number = node->preset}},
        {"history", {.kind = VG_STRING, .string = node->history}},
    };
    vg_event event = {.name = "who", .fields = fields, .field_count = 4};
    node->host->publish(node->host->handle, &event);
    node->host->log(node->host->handle, VG_LOG_WARNING, "somebody asks");
    node->host->send(node->host->handle, 0, message);
  }
  if (strncmp(message->text, "remember ", 9) == 0) node->remembered = atoi(message->text + 9);
  if (strncmp(message->text, "at once ", 8) == 0) make_trouble(message->text + 8);
  for (int i = 1; port == 0 && i < (int)(sizeof troubles / sizeof *troubles); i++)
    if (strcmp(message->text, troubles[i]) == 0) node->trouble = i;
}

static bool save(void *data, const char *folder, vg_error *error) {
  unruly *node = data;
  trouble_in(node, "save");
  char path[1024];
  snprintf(path, sizeof path, "mkdir -p '%s'", folder);
  if (system(path) != 0) return false;
  snprintf(path, sizeof path, "%s/remembered", folder);
  FILE *file = fopen(path, "w");
  if (!file) {
    snprintf(error->message, sizeof error->message, "cannot write its state");
    return false;
  }
  fprintf(file, "%d\n", node->remembered);
  fclose(file);
  return true;
}

static void note(unruly *node, const char *what, const char *value) {
  size_t used = strlen(node->history);
  snprintf(node->history + used, sizeof node->history - used, "%s%s %s", used ? ", " : "", what, value);
}

/* The property `word`: "slow" takes its time, "doom" ends the process in the next block, others see `make_trouble`. */
static bool set_property(void *data, const char *key, const vg_value *value, vg_error *error) {
  unruly *node = data;
  if (strcmp(key, "word") != 0 || value->kind != VG_STRING) {
    snprintf(error->message, sizeof error->message, "no property %s", key);
    return false;
  }
  if (strcmp(value->string, "slow") == 0) {
    struct timespec time = {0, 700000000};
    nanosleep(&time, NULL);
  }
  make_trouble(value->string);
  snprintf(node->word, sizeof node->word, "%s", value->string);
  note(node, "word", value->string);
  return true;
}

static bool ask_property(void *data, const char *key, vg_error *error) {
  unruly *node = data;
  if (strcmp(key, "word") != 0) {
    snprintf(error->message, sizeof error->message, "no property %s", key);
    return false;
  }
  vg_entry fields[] = {{"key", {.kind = VG_STRING, .string = "word"}},
                       {"value", {.kind = VG_STRING, .string = node->word}}};
  vg_event event = {.name = "property", .fields = fields, .field_count = 2};
  node->host->publish(node->host->handle, &event);
  return true;
}

static bool load_preset(void *data, const char *preset, vg_error *error) {
  unruly *node = data;
  if (atoi(preset) == 0) {
    snprintf(error->message, sizeof error->message, "no preset %s", preset);
    return false;
  }
  node->preset = atoi(preset);
  note(node, "preset", preset);
  return node->host->set_parameter(node->host->handle, 0, (float)node->preset, true);
}

static uint32_t latency(void *data) {
  unruly *node = data;
  return node->remembered == 77 ? 77 : 0;
}

static const vg_port ports[] = {
    {.symbol = "in", .kind = VG_AUDIO_PORT, .direction = VG_INPUT},
    {.symbol = "out", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT},
    {.symbol = "remembered", .kind = VG_CONTROL_PORT, .direction = VG_OUTPUT},
    {.symbol = "do", .kind = VG_MESSAGE_PORT, .direction = VG_INPUT},
    {.symbol = "echo", .kind = VG_MESSAGE_PORT, .direction = VG_OUTPUT},
    {.symbol = "keys", .kind = VG_MIDI_PORT, .direction = VG_INPUT},
    {.symbol = "notes", .kind = VG_MIDI_PORT, .direction = VG_OUTPUT},
};
static const vg_parameter parameters[] = {
    {.key = "gain", .minimum = 0, .maximum = 8, .default_value = 1},
};
static const vg_setting settings[] = {
    {.key = "state", .doc = "saved", .kind = VG_SET_PATH},
    {.key = "trouble", .doc = "where and what", .kind = VG_SET_STRING},
};
static const vg_node_type type = {
    .abi = VG_ABI_VERSION, .size = sizeof(vg_node_type), .name = "unruly", .summary = "made for a test",
    .default_layout = {.ports = ports, .port_count = 7, .parameters = parameters, .parameter_count = 1},
    .settings = settings, .setting_count = 2, .create = create, .destroy = destroy, .prepare = prepare,
    .activate = activate, .process = process, .receive = receive, .latency = latency, .save = save,
    .load_preset = load_preset, .set_property = set_property, .ask_property = ask_property};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {.abi = VG_ABI_VERSION, .size = sizeof(vg_plugin), .name = "fixture", .version = "1.0",
                                 .license = "Apache-2.0", .types = types, .type_count = 1};
const vg_plugin *vg_plugin_entry(uint32_t host_abi) { (void)host_abi; return &plugin; }
