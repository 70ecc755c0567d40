/* SPDX-License-Identifier: Apache-2.0
 *
 * A sound node type without ports, and a plugin around it: each fixture breaks one thing. */
#include <stddef.h>
#include <voicegraph/node.h>

static int instance;
static inline void *create(const vg_node_type *type, const vg_host *host, const vg_value *settings, vg_error *error) {
  (void)type, (void)host, (void)settings, (void)error;
  return &instance;
}
static inline void destroy(void *node) { (void)node; }
static inline void *prepare(void *node, const vg_preparation *preparation, vg_error *error) {
  (void)preparation, (void)error;
  return node;
}

#define CREATED_TYPE(NAME, CREATE)                                                                 \
  .abi = VG_ABI_VERSION, .size = sizeof(vg_node_type), .name = NAME, .summary = "made for a test", \
  .create = CREATE, .destroy = destroy, .prepare = prepare
#define SOUND_TYPE(NAME) CREATED_TYPE(NAME, create)
#define SOUND_PLUGIN                                                                           \
  .abi = VG_ABI_VERSION, .size = sizeof(vg_plugin), .name = "fixture", .version = "1.0", \
  .license = "Apache-2.0"

#define EXPORT(PLUGIN) \
  const vg_plugin *vg_plugin_entry(uint32_t host_abi) { (void)host_abi; return PLUGIN; }
