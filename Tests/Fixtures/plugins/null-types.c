/* SPDX-License-Identifier: Apache-2.0 */
/* Types are promised, the list is NULL. */
#include "common.h"

static const vg_plugin plugin = {SOUND_PLUGIN, .types = NULL, .type_count = 3};
EXPORT(&plugin)
