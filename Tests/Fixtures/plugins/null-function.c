/* SPDX-License-Identifier: Apache-2.0 */
/* A type that cannot be created. */
#include "common.h"

static const vg_node_type type = {
    .abi = VG_ABI_VERSION, .size = sizeof(vg_node_type), .name = "null-function", .summary = "made for a test"};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
