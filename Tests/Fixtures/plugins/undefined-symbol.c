/* SPDX-License-Identifier: Apache-2.0 */
/* Needs a function that is nowhere. */
#include "common.h"

int from_nowhere(void);
static const vg_node_type type = {SOUND_TYPE("undefined-symbol")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
const vg_plugin *vg_plugin_entry(uint32_t host_abi) { return host_abi + (uint32_t)from_nowhere() ? &plugin : NULL; }
