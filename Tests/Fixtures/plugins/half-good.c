/* SPDX-License-Identifier: Apache-2.0 */
/* Two types: one sound, one whose parameter starts outside its range. */
#include "common.h"

static const vg_node_type good = {SOUND_TYPE("half-good")};
static const vg_parameter loud = {.key = "loud", .minimum = 0, .maximum = 1, .default_value = 5};
static const vg_node_type bad = {
    SOUND_TYPE("half-bad"), .default_layout = {.parameters = {&loud, 1, sizeof loud}}};
static const vg_node_type *const types[] = {&bad, &good};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 2};
EXPORT(&plugin)
