/* SPDX-License-Identifier: Apache-2.0 */
/* Made for another version of the ABI. */
#include "common.h"

static const vg_node_type type = {SOUND_TYPE("wrong-abi")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {.abi = 77, .size = sizeof(vg_plugin), .types = types, .type_count = 1};
EXPORT(&plugin)
