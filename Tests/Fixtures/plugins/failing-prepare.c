/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, is created, and cannot be prepared. */
#include "common.h"

static void *fail(void *node, const vg_preparation *preparation, vg_error *error) {
  (void)node, (void)preparation;
  strcpy(error->message, "the device is on fire");
  strcpy(error->hint, "put it out");
  return NULL;
}
static const vg_node_type type = {
    .abi = VG_ABI_VERSION, .size = sizeof(vg_node_type), .name = "failing-prepare", .summary = "made for a test",
    .create = create, .destroy = destroy, .prepare = fail};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
