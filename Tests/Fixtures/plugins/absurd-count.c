/* SPDX-License-Identifier: Apache-2.0 */
/* More types than anyone would write. */
#include "common.h"

static const vg_node_type type = {SOUND_TYPE("absurd-count")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 4000000000u};
EXPORT(&plugin)
