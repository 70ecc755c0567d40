/* SPDX-License-Identifier: Apache-2.0 */
/* A type that uses more models than anyone would write. */
#include "common.h"

static const vg_need need = {.models = "onnxruntime", .setting = "engine", .value = "best"};
static const vg_type_needs needs = {{&need, 0xffffffffu, sizeof need}};
static const vg_extension extensions[] = {{VG_EXT_NEEDS, &needs}};
static const vg_node_type type = {SOUND_TYPE("absurd-needs"), .extensions = VG_ARRAY(extensions)};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
