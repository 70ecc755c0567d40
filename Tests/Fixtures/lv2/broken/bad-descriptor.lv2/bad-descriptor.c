/* SPDX-License-Identifier: Apache-2.0 */
#include <lv2/core/lv2.h>
#include <signal.h>
#include <stddef.h>

LV2_SYMBOL_EXPORT const LV2_Descriptor *lv2_descriptor(uint32_t index) {
  signal(SIGBUS, SIG_DFL);
  raise(SIGBUS);
  return NULL;
}
