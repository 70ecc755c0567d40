// SPDX-License-Identifier: Apache-2.0
#include "voicegraph/audio.h"
#include "voicegraph/foreign.h"
#include "voicegraph/guard.h"

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

typedef int32_t eight_bits __attribute__((vector_size(32), aligned(4), may_alias));

static inline __attribute__((always_inline)) bool unfit(const float *samples, uint32_t frames) {
  eight_bits found = {0};
  uint32_t done = 0;
  for (; done + 16 <= frames; done += 16) {
    eight_bits one = *(const eight_bits *)(samples + done) & 0x7fffffff;
    eight_bits two = *(const eight_bits *)(samples + done + 8) & 0x7fffffff;
    found |= (one > VG_LOUDEST_BITS) | (two > VG_LOUDEST_BITS);
  }
  int32_t any = 0;
  for (int lane = 0; lane < 8; lane++) any |= found[lane];
  for (; done < frames; done++) {
    uint32_t bits;
    __builtin_memcpy(&bits, samples + done, sizeof bits);
    any |= (bits & 0x7fffffffu) > VG_LOUDEST_BITS;
  }
  return any != 0;
}

static bool unfit_plain(const float *samples, uint32_t frames) { return unfit(samples, frames); }

#if defined(__x86_64__)
static __attribute__((target("avx2"))) bool unfit_avx2(const float *samples, uint32_t frames) {
  return unfit(samples, frames);
}
#endif

vg_unfit_function vg_unfit_choose(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return unfit_avx2;
#endif
  return unfit_plain;
}
