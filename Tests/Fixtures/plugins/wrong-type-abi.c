/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin has the right ABI, its type has not. */
#include "common.h"

static const vg_node_type type = {.abi = 99, .size = sizeof(vg_node_type), .name = "wrong-type-abi"};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
