/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies by `gain`, gives events on, remembers a number, and on demand does what ends a process, or hangs, or gives nonsense. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
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
  const vg_host_messages *messages;
  const vg_host_series *series;
  const vg_host_audio *audio;
  char trouble_in[32];
  _Atomic int remembered;
  _Atomic int trouble; /* what `process` is to do */
  int preset;
  char word[32];
  char mood[32];
  char history[256]; /* what was set in this process, in order */
  const vg_call *call; /* an action that ends with the message "release" */
  bool busy;
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
  node->messages = host->extension(host->handle, VG_EXT_MESSAGES);
  node->series = host->extension(host->handle, VG_EXT_SERIES);
  node->audio = host->extension(host->handle, VG_EXT_AUDIO);
  for (uint32_t i = 0; i < settings->count; i++) {
    const vg_entry *entry = &settings->items[i];
    if (strcmp(entry->key, "mood") == 0) snprintf(node->mood, sizeof node->mood, "%s", entry->value.string);
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

#define INTEGER(n) {.kind = VG_INTEGER, .integer = (n), .number = (double)(n)}
#define STRING(s) {.kind = VG_STRING, .string = (s)}

static void publish(unruly *node, const char *name, const vg_entry *fields, uint32_t count, uint64_t position) {
  vg_event event = {.size = sizeof event, .name = name, .fields = fields, .field_count = count, .position = position};
  node->host->publish(node->host->handle, &event);
}

/* Ends a call on a thread of its own, as a node that waits for a disk would. */
static void *release(void *data) {
  unruly *node = data;
  const vg_call *call = node->call;
  node->call = NULL;
  vg_value value = STRING("at last");
  call->put(call->handle, "text", &value);
  call->finish(call->handle, NULL);
  return NULL;
}

static void say_who(unruly *node, const vg_message *message) {
  vg_entry fields[] = {
      {"process", INTEGER(getpid())}, {"remembered", INTEGER(node->remembered)}, {"preset", INTEGER(node->preset)},
      {"history", STRING(node->history)}, {"mood", STRING(node->mood)},
  };
  publish(node, "who", fields, 5, message->position);
  node->host->log(node->host->handle, VG_LOG_WARNING, "somebody asks");
  node->messages->send(node->host->handle, 0, message);
}

static void measure(unruly *node, const vg_message *message) {
  float peaks[] = {0.5f, 0.25f}, level = 0.75f;
  vg_row rows[] = {{.series = 0, .count = 2, .values = peaks}, {.series = 1, .count = 1, .values = &level}};
  vg_frame frame = {.size = sizeof frame, .row_count = 2, .rows = rows, .position = message->position};
  node->series->publish(node->host->handle, &frame);
  const float *samples[] = {peaks};
  vg_audio audio = {.size = sizeof audio, .channels = 1, .frames = 2, .samples = samples, .rate = 48000,
                    .position = message->position};
  node->audio->publish(node->host->handle, &audio);
}

static void receive(void *data, uint32_t port, const vg_message *message) {
  unruly *node = data;
  const vg_host *host = node->host;
  if (message->kind != VG_MESSAGE_TEXT) return;
  if (strcmp(message->text, "who") == 0) say_who(node, message);
  if (strcmp(message->text, "measure") == 0) measure(node, message);
  if (strcmp(message->text, "unwell") == 0) host->health(host->handle, VG_HEALTH_DEGRADED, "it has a headache");
  if (strcmp(message->text, "well") == 0) host->health(host->handle, VG_HEALTH_OK, NULL);
  if (strcmp(message->text, "count") == 0) host->count(host->handle, "asked", 3);
  if (strcmp(message->text, "busy") == 0) node->busy = true;
  if (strcmp(message->text, "rest") == 0) node->busy = false;
  if (strcmp(message->text, "release") == 0 && node->call) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, release, node) == 0) pthread_detach(thread);
  }
  if (strncmp(message->text, "remember ", 9) == 0) node->remembered = atoi(message->text + 9);
  if (strncmp(message->text, "at once ", 8) == 0) make_trouble(message->text + 8);
  for (int i = 1; port == 0 && i < (int)(sizeof troubles / sizeof *troubles); i++)
    if (strcmp(message->text, troubles[i]) == 0) node->trouble = i;
}

static bool save(unruly *node, const char *folder, vg_error *error) {
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

static const char *text_of(const vg_value *arguments, const char *key) {
  for (uint32_t i = 0; i < arguments->count; i++)
    if (strcmp(arguments->items[i].key, key) == 0) return arguments->items[i].value.string;
  return NULL;
}

/* The property `word`: "slow" takes its time, "doom" ends the process in the next block, others see `make_trouble`. */
static bool property(unruly *node, const char *key, const char *word, const vg_call *call, vg_error *error) {
  if (strcmp(key, "word") != 0) {
    snprintf(error->message, sizeof error->message, "no property %s", key);
    return false;
  }
  if (!word) {
    vg_value value = STRING(node->word);
    call->put(call->handle, "value", &value);
    return true;
  }
  if (strcmp(word, "slow") == 0) {
    publish(node, "slow.begun", NULL, 0, 0);
    struct timespec time = {0, 700000000};
    nanosleep(&time, NULL);
  }
  make_trouble(word);
  snprintf(node->word, sizeof node->word, "%s", word);
  note(node, "word", word);
  return true;
}

static bool preset(unruly *node, const char *label, vg_error *error) {
  if (atoi(label) == 0) {
    snprintf(error->message, sizeof error->message, "no preset %s", label);
    return false;
  }
  node->preset = atoi(label);
  note(node, "preset", label);
  return node->host->set_parameter(node->host->handle, 0, (float)node->preset, true, 0);
}

/* What the host tells of itself. */
static void tell_host(unruly *node, const vg_call *call) {
  const vg_host *host = node->host;
  vg_value graph = STRING(host->graph_name), models = STRING(host->model_folder);
  vg_value latency = INTEGER(host->output_latency(host->handle));
  call->put(call->handle, "graph", &graph);
  call->put(call->handle, "models", &models);
  vg_value wanted = INTEGER((int64_t)(node->series->wanted(host->handle) & 0xffff));
  call->put(call->handle, "latency", &latency);
  call->put(call->handle, "wanted", &wanted);
}

static vg_outcome perform(void *data, const char *action, const vg_value *arguments, const vg_call *call, vg_error *error) {
  unruly *node = data;
  if (strcmp(action, VG_ACTION_SAVE) == 0) return save(node, text_of(arguments, "folder"), error) ? VG_DONE : VG_FAILED;
  if (strcmp(action, VG_ACTION_PRESET) == 0) return preset(node, text_of(arguments, "preset"), error) ? VG_DONE : VG_FAILED;
  if (strcmp(action, VG_ACTION_PROPERTY) == 0)
    return property(node, text_of(arguments, "key"), text_of(arguments, "value"), call, error) ? VG_DONE : VG_FAILED;
  if (strcmp(action, "host") == 0) {
    tell_host(node, call);
    return VG_DONE;
  }
  if (strcmp(action, "hush") == 0) {
    note(node, "hush", "now");
    return VG_DONE;
  }
  node->call = call;
  return VG_LATER;
}

static bool set_setting(void *data, const char *key, const vg_value *value, vg_error *error) {
  unruly *node = data;
  if (strcmp(value->string, "gloomy") == 0) {
    snprintf(error->message, sizeof error->message, "no %s today", key);
    return false;
  }
  make_trouble(value->string);
  snprintf(node->mood, sizeof node->mood, "%s", value->string);
  note(node, key, value->string);
  return true;
}

static void finish(void *data) {
  unruly *node = data;
  trouble_in(node, "finish");
  vg_message message = {.size = sizeof message, .kind = VG_MESSAGE_TEXT, .text = "who", .length = 3};
  publish(node, "finish.told", NULL, 0, 0);
  node->messages->send(node->host->handle, 0, &message);
}

static bool idle(void *data) { return !((unruly *)data)->busy; }

static uint32_t latency(void *data) {
  unruly *node = data;
  return node->remembered == 77 ? 77 : 0;
}

static const vg_port ports[] = {
    {.symbol = "in", .kind = VG_AUDIO_PORT, .direction = VG_INPUT},
    {.symbol = "out", .kind = VG_AUDIO_PORT, .direction = VG_OUTPUT},
    {.symbol = "remembered", .kind = VG_CONTROL_PORT, .direction = VG_OUTPUT, .default_value = -50},
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
    {.key = "mood", .doc = "how it feels", .kind = VG_SET_STRING, .flags = VG_SETTING_LIVE},
};
static const vg_setting save_arguments[] = {{.key = "folder", .doc = "where", .kind = VG_SET_STRING, .required = true}};
static const vg_setting preset_arguments[] = {{.key = "preset", .doc = "which", .kind = VG_SET_STRING, .required = true}};
static const vg_setting property_arguments[] = {
    {.key = "key", .doc = "which", .kind = VG_SET_STRING, .required = true},
    {.key = "value", .doc = "what it becomes", .kind = VG_SET_VALUE},
};
static const vg_field property_results[] = {{.name = "value", .doc = "what it is", .kind = VG_STRING}};
static const vg_field later_results[] = {{.name = "text", .doc = "the answer", .kind = VG_STRING}};
static const vg_field host_results[] = {
    {.name = "graph", .doc = "its name", .kind = VG_STRING},
    {.name = "models", .doc = "their folder", .kind = VG_STRING},
    {.name = "latency", .doc = "frames to the ear", .kind = VG_INTEGER},
    {.name = "wanted", .doc = "series that are read, a bit each", .kind = VG_INTEGER},
};
static const vg_action actions[] = {
    {.name = VG_ACTION_SAVE, .doc = "writes the number", .arguments = VG_ARRAY(save_arguments)},
    {.name = VG_ACTION_PRESET, .doc = "sets the gain", .arguments = VG_ARRAY(preset_arguments), .flags = VG_ACTION_LASTING},
    {.name = VG_ACTION_PROPERTY, .doc = "sets the word", .arguments = VG_ARRAY(property_arguments),
     .results = VG_ARRAY(property_results), .flags = VG_ACTION_LASTING},
    {.name = "later", .doc = "ends with the message release", .results = VG_ARRAY(later_results)},
    {.name = "host", .doc = "tells what the host tells", .results = VG_ARRAY(host_results)},
    {.name = "hush", .doc = "overtakes", .flags = VG_ACTION_URGENT},
};
static const vg_field who_fields[] = {
    {.name = "process", .doc = "id", .kind = VG_INTEGER},  {.name = "remembered", .doc = "number", .kind = VG_INTEGER},
    {.name = "preset", .doc = "number", .kind = VG_INTEGER}, {.name = "history", .doc = "what was set", .kind = VG_STRING},
    {.name = "mood", .doc = "how it feels", .kind = VG_STRING},
};
static const vg_event_type events[] = {
    {.name = "who", .doc = "who it is", .fields = VG_ARRAY(who_fields)},
    {.name = "finish.told", .doc = "it was told to finish"},
    {.name = "slow.begun", .doc = "what takes long has begun"},
};
static const vg_series series[] = {
    {.name = "peak", .doc = "for a test"}, {.name = "level", .doc = "for a test", .width = 1},
};
static const vg_type_actions type_actions = {VG_ARRAY(actions), perform};
static const vg_type_messages type_messages = {receive};
static const vg_type_live_settings live_settings = {set_setting};
static const vg_type_series type_series = {VG_ARRAY(series)};
static const vg_type_ending ending = {idle, finish};
static const vg_extension extensions[] = {
    {VG_EXT_ACTIONS, &type_actions}, {VG_EXT_MESSAGES, &type_messages}, {VG_EXT_LIVE_SETTINGS, &live_settings},
    {VG_EXT_SERIES, &type_series},   {VG_EXT_ENDING, &ending},
};
static const vg_node_type type = {
    .abi = VG_ABI_VERSION, .size = sizeof(vg_node_type), .name = "unruly", .summary = "made for a test",
    .default_layout = {.ports = VG_ARRAY(ports), .parameters = VG_ARRAY(parameters)}, .settings = VG_ARRAY(settings),
    .events = VG_ARRAY(events), .extensions = VG_ARRAY(extensions), .create = create, .destroy = destroy,
    .prepare = prepare, .activate = activate, .process = process, .latency = latency};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {.abi = VG_ABI_VERSION, .size = sizeof(vg_plugin), .name = "fixture", .version = "1.0",
                                 .license = "Apache-2.0", .types = types, .type_count = 1};
const vg_plugin *vg_plugin_entry(uint32_t host_abi) { (void)host_abi; return &plugin; }
