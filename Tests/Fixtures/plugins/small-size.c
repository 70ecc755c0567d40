/* SPDX-License-Identifier: Apache-2.0 */
/* A description shorter than the host must read. */
#include "common.h"

static const vg_node_type type = {SOUND_TYPE("small-size")};
static const vg_node_type *const types[] = {&type};
static const vg_plugin plugin = {.abi = VG_ABI_VERSION, .size = 8, .types = types, .type_count = 1};
EXPORT(&plugin)
