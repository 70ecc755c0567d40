/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that offers nothing. */
#include "common.h"

static const vg_plugin plugin = {SOUND_PLUGIN, .types = NULL, .type_count = 0};
EXPORT(&plugin)
