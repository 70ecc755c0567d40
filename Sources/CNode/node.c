// SPDX-License-Identifier: Apache-2.0
#include "voicegraph/audio.h"
#include "voicegraph/foreign.h"

void vg_foreign_process(void *processor, const vg_io *io, const vg_cycle *cycle) {
  ((const vg_foreign *)processor)->steady(processor, io, cycle);
}

/* The memory may lie anywhere. */
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

/* Compiled once for every instruction set; a call of memset would cost as much
 * as all the rest. */
static inline __attribute__((always_inline)) void steady(void *processor, const vg_io *io, const vg_cycle *cycle) {
  const vg_foreign *foreign = processor;
  const vg_foreign_state *state = foreign->state;
  if (cycle->revision != state->revision || __atomic_load_n(&state->moved, __ATOMIC_ACQUIRE) != 0) {
    foreign->moved(processor, io, cycle);
    return;
  }
  uint32_t frames = cycle->frames;
  const vg_foreign_port *port = foreign->outputs;
  do {
    eight *vector = (eight *)port->connected;
    uint32_t left = frames;
#pragma clang loop unroll(disable)
    for (; left >= 128; left -= 128, vector += 16) {
#pragma clang loop unroll(full)
      for (int turn = 0; turn < 16; turn++) vector[turn] = (eight){0};
    }
    if (left == 0) continue; /* with the next port, if there is one */
#pragma clang loop unroll(disable)
    for (; left >= 32; left -= 32, vector += 4) {
#pragma clang loop unroll(full)
      for (int turn = 0; turn < 4; turn++) vector[turn] = (eight){0};
    }
    float *sample = (float *)vector;
#pragma clang loop unroll(disable) vectorize(disable)
    for (; left != 0; left--) *sample++ = 0;
  } while (++port != foreign->output_end);
  foreign->run(foreign->handle, frames);
}

static __attribute__((no_builtin("memset"))) void steady_plain(void *processor, const vg_io *io, const vg_cycle *cycle) {
  steady(processor, io, cycle);
}

#if defined(__x86_64__)
static __attribute__((target("avx"), no_builtin("memset"))) void steady_avx(void *processor, const vg_io *io, const vg_cycle *cycle) {
  steady(processor, io, cycle);
}
#endif

vg_process_function vg_foreign_choose(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) return steady_avx;
#endif
  return steady_plain;
}
