/* SPDX-License-Identifier: Apache-2.0 */
/* An extension of which there is only the name. */
#include "common.h"

static const vg_extension extensions[] = {{VG_EXT_MESSAGES, NULL}};
static const vg_node_type type = {SOUND_TYPE("absurd-extensions"), .extensions = VG_ARRAY(extensions)};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {SOUND_PLUGIN, .types = types, .type_count = 1};
EXPORT(&plugin)
