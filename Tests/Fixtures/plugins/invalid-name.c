/* SPDX-License-Identifier: Apache-2.0 */
/* A type whose name no file could write. */
#include "common.h"

static const vg_node_type type = {SOUND_TYPE("Not A Name")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
