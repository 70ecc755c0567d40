/* SPDX-License-Identifier: Apache-2.0 */
#include <lv2/core/lv2.h>
#include <stddef.h>

static LV2_Handle make(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *features) {
  return NULL;
}
static void connect(LV2_Handle h, uint32_t port, void *data) {}
static void run(LV2_Handle h, uint32_t frames) {}

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) {
  static const LV2_Descriptor plugin = {"urn:voicegraph:broken:refuses", make, connect, NULL, run, NULL, NULL, NULL};
  return index == 0 ? &plugin : NULL;
}
