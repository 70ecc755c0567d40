/* SPDX-License-Identifier: Apache-2.0 */
/* A program that marks its audio callback for the realtime sanitizer, and allocates there. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) void __rtsan_realtime_enter(void);
__attribute__((weak)) void __rtsan_realtime_exit(void);

void *volatile kept;
void callback(void) { kept = malloc(10); }

int main(void) {
  kept = malloc(10);
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
  callback();
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
  puts("survived");
  return 0;
}
