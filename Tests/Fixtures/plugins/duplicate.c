/* SPDX-License-Identifier: Apache-2.0 */
/* Offers a type that is built in. */
#include "common.h"

static const vg_node_type type = {SOUND_TYPE("gain")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
