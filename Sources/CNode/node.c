// SPDX-License-Identifier: Apache-2.0
#include "voicegraph/audio.h"
#include "voicegraph/foreign.h"
#include "voicegraph/guard.h"

void vg_foreign_process(void *processor, const vg_io *io, const vg_cycle *cycle) {
  ((const vg_foreign *)processor)->steady(processor, io, cycle);
}

/* The memory may lie anywhere. */
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

/* Whether the short way is open. */
static inline __attribute__((always_inline)) bool is_steady(const vg_foreign *foreign, const vg_cycle *cycle) {
  const vg_foreign_state *state = foreign->state;
  return __builtin_expect(cycle->revision == state->revision && __atomic_load_n(&state->moved, __ATOMIC_ACQUIRE) == 0, 1);
}

/* A call of memset would cost as much as all the rest. */
static inline __attribute__((always_inline)) void zero_outputs(const vg_foreign *foreign, uint32_t frames) {
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
}

static inline __attribute__((always_inline)) void steady(void *processor, const vg_io *io, const vg_cycle *cycle) {
  const vg_foreign *foreign = processor;
  if (!is_steady(foreign, cycle)) {
    foreign->moved(processor, io, cycle);
    return;
  }
  uint32_t frames = cycle->frames;
  zero_outputs(foreign, frames);
  foreign->run(foreign->handle, frames);
}

typedef uint32_t eight_bits __attribute__((vector_size(32), aligned(4), may_alias));

/* All samples' bits in one: whether any is 2 or more, infinite or no number,
 * since those, and only those, have `large`. One instruction for eight samples,
 * and it settles nearly all blocks. */
static const uint32_t large = VG_ATTENTION;

/* No function, which could not take vectors that not all processors have. */
#define VG_HAS_LARGE(bits) __builtin_expect(__builtin_reduce_or((bits) & large) != 0, 0)

static inline __attribute__((always_inline)) bool is_large(const float *samples, uint32_t frames) {
  const eight_bits *vector = (const eight_bits *)samples;
  eight_bits bits = {0};
  uint32_t left = frames;
#pragma clang loop unroll(disable)
  for (; left >= 64; left -= 64, vector += 8) {
#pragma clang loop unroll(full)
    for (int turn = 0; turn < 8; turn++) bits |= vector[turn];
  }
#pragma clang loop unroll(disable)
  for (; left >= 8; left -= 8) bits |= *vector++;
  uint32_t rest = 0;
  const uint32_t *single = (const uint32_t *)vector;
#pragma clang loop unroll(disable) vectorize(disable)
  for (; left != 0; left--) rest |= *single++;
  return (rest & large) != 0 || VG_HAS_LARGE(bits);
}

/* A block that may not be good. */
static __attribute__((noinline)) void look_closer(const vg_guard *guard, uint32_t frames) {
  bool good = __atomic_load_n(guard->attention, __ATOMIC_RELAXED) == 0;
  for (size_t channel = 0; good && channel < guard->count; channel++) {
    good = *guard->silent[channel] != 0 || !guard->is_unfit(guard->channels[channel], frames);
  }
  if (!good) return guard->thorough(guard->owner, frames);
  for (size_t channel = 0; channel < guard->count; channel++) guard->last[channel] = guard->channels[channel][frames - 1];
}

static inline __attribute__((always_inline)) void guard(void *memory, const vg_io *io, const vg_cycle *cycle) {
  (void)io;
  const vg_guard *guard = memory;
  size_t count = guard->count;
  uint32_t frames = cycle->frames;
  bool good = __atomic_load_n(guard->attention, __ATOMIC_RELAXED) == 0;
  for (size_t channel = 0; good && channel < count; channel++) {
    good = *guard->silent[channel] != 0 || !is_large(guard->channels[channel], frames);
  }
  if (__builtin_expect(!good, 0)) return look_closer(guard, frames);
  for (size_t channel = 0; channel < count; channel++) guard->last[channel] = guard->channels[channel][frames - 1];
}

static __attribute__((noinline)) void guarded_moved(const vg_guarded *guarded, const vg_io *io, const vg_cycle *cycle) {
  guarded->foreign.moved(guarded->processor, io, cycle);
  look_closer(&guarded->guard, cycle->frames);
}

/* Any number of frames and of outputs. */
static inline __attribute__((always_inline)) void guarded(void *memory, const vg_io *io, const vg_cycle *cycle) {
  const vg_guarded *guarded = memory;
  if (!is_steady(&guarded->foreign, cycle)) return guarded_moved(guarded, io, cycle);
  uint32_t frames = cycle->frames;
  zero_outputs(&guarded->foreign, frames);
  guarded->foreign.run(guarded->foreign.handle, frames);
  guard(memory, io, cycle);
}

/* One output, and as many frames as vectors have: how mono plugins mostly run. */
static inline __attribute__((always_inline)) void guarded_one(
    void *memory, const vg_io *io, const vg_cycle *cycle, vg_process_function rest) {
  const vg_guarded *guarded = memory;
  if (!is_steady(&guarded->foreign, cycle)) return guarded_moved(guarded, io, cycle);
  uint32_t frames = cycle->frames;
  if (frames % 128 != 0) return rest(memory, io, cycle);
  float *samples = *guarded->guard.channels;
  float *end = samples + frames;
  /* What is known of its place would be kept in more registers. */
  __asm__("" : "+r"(end));
  eight *zeroed = (eight *)samples;
#pragma clang loop unroll(disable)
  do {
#pragma clang loop unroll(full)
    for (int turn = 0; turn < 16; turn++) zeroed[turn] = (eight){0};
  } while ((zeroed += 16) != (eight *)end);
  guarded->foreign.run(guarded->foreign.handle, frames);
  /* What is asked for counts as a large sample. */
  eight_bits bits = {__atomic_load_n(guarded->guard.attention, __ATOMIC_RELAXED)};
  const eight_bits *seen = (const eight_bits *)samples;
#pragma clang loop unroll(disable)
  do {
#pragma clang loop unroll(full)
    for (int turn = 0; turn < 16; turn++) bits |= seen[turn];
  } while ((seen += 16) != (const eight_bits *)end);
  if (VG_HAS_LARGE(bits)) return look_closer(&guarded->guard, (uint32_t)(end - *guarded->guard.channels));
  /* Read again: it would take longer to get it out of the vector. */
  __asm__("" : "+r"(end));
  *guarded->guard.last = end[-1];
}

/* Each is compiled once for every instruction set. */
#define VG_VARIANT(set, name, ...)                                                                   \
  static set __attribute__((no_builtin("memset"))) void name(void *state, const vg_io *io, const vg_cycle *cycle) { \
    __VA_ARGS__;                                                                                     \
  }
#define VG_VARIANTS(set, suffix)                                                \
  VG_VARIANT(set, steady##suffix, steady(state, io, cycle))                     \
  VG_VARIANT(set, guard##suffix, guard(state, io, cycle))                       \
  VG_VARIANT(set, guarded##suffix, guarded(state, io, cycle))                   \
  VG_VARIANT(set, guarded_one##suffix, guarded_one(state, io, cycle, guarded##suffix))
#define VG_NOTHING

VG_VARIANTS(VG_NOTHING, _plain)
#if defined(__x86_64__)
#define VG_AVX __attribute__((target("avx")))
VG_VARIANTS(VG_AVX, _avx)
#define VG_CHOOSE(name) (__builtin_cpu_supports("avx") ? name##_avx : name##_plain)
#else
#define VG_CHOOSE(name) name##_plain
#endif

vg_process_function vg_foreign_choose(void) { return VG_CHOOSE(steady); }
vg_process_function vg_guard_choose(void) { return VG_CHOOSE(guard); }
vg_process_function vg_guarded_choose(size_t count) { return count == 1 ? VG_CHOOSE(guarded_one) : VG_CHOOSE(guarded); }

typedef int32_t eight_integers __attribute__((vector_size(32), aligned(4), may_alias));

static inline __attribute__((always_inline)) bool unfit(const float *samples, uint32_t frames) {
  eight_integers found = {0};
  uint32_t done = 0;
  for (; done + 16 <= frames; done += 16) {
    eight_integers one = *(const eight_integers *)(samples + done) & 0x7fffffff;
    eight_integers two = *(const eight_integers *)(samples + done + 8) & 0x7fffffff;
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
