/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong with this one. */
#include "common.h"

static const vg_node_type type = {SOUND_TYPE("sound")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
