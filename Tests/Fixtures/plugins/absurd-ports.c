/* SPDX-License-Identifier: Apache-2.0 */
/* A type with more ports than anyone would write. */
#include "common.h"

static const vg_port port = {.symbol = "in"};
static const vg_node_type type = {
    SOUND_TYPE("absurd-ports"), .default_layout = {.ports = {&port, 0xffffffffu, sizeof port}}};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
