/* SPDX-License-Identifier: Apache-2.0 */
/* Built when structs were shorter: behind their ends lies what nobody may read. It has an extension that nobody knows any
 * more, and asks the host for one. */
#include "common.h"
#include <string.h>

static const vg_host *host_of_all;

static void *create_older(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
  host_of_all = host;
  return create(type, host, settings, error);
}

static void activate(void *node) {
  (void)node;
  if (host_of_all->extension(host_of_all->handle, "telegraphy")) return;
  vg_event event;
  memset(&event, 0xaa, sizeof event);
  event.size = offsetof(vg_event, position);
  event.name = "begun";
  event.fields = NULL;
  event.field_count = 0;
  host_of_all->publish(host_of_all->handle, &event);
}

/* Each port without its last two fields. */
typedef struct { const char *symbol, *doc; vg_port_kind kind; vg_direction direction; const char *bus; } older_port;
static const older_port ports[] = {{"text", "words", VG_MESSAGE_PORT, VG_INPUT, NULL}};
static const vg_event_type events[] = {{.name = "begun", .doc = "it has"}};
static const vg_extension extensions[] = {{"telegraphy", (const void *)8}};

static const vg_node_type type = {
    CREATED_TYPE("older", create_older),
    .default_layout = {.ports = VG_ARRAY(ports)},
    .events = VG_ARRAY(events),
    .extensions = VG_ARRAY(extensions),
    .activate = activate,
};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
