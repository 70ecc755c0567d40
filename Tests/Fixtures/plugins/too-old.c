/* SPDX-License-Identifier: Apache-2.0 */
/* A type that ends before what every type must have. */
#include "common.h"

static const vg_node_type type = {
    .abi = VG_ABI_VERSION, .size = offsetof(vg_node_type, prepare), .name = "too-old", .summary = "made for a test",
    .create = create, .destroy = destroy, .prepare = prepare};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
