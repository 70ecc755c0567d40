/* SPDX-License-Identifier: Apache-2.0 */
#include <lv2/core/lv2.h>
#include <stddef.h>

static LV2_Handle make(const LV2_Descriptor *d, double rate, const char *bundle, const LV2_Feature *const *features) {
  return (LV2_Handle)d;
}
static void connect(LV2_Handle h, uint32_t port, void *data) {}
static void cleanup(LV2_Handle h) {}

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) {
  static const LV2_Descriptor plugin = {
      "urn:voicegraph:broken:no-run", make, connect, NULL, NULL, NULL, cleanup, NULL};
  return index == 0 ? &plugin : NULL;
}
