/* SPDX-License-Identifier: Apache-2.0
 *
 * What an audio thread needs of the machine. */
#ifndef VOICEGRAPH_REALTIME_H
#define VOICEGRAPH_REALTIME_H

#include <math.h>
#include <stdint.h>
#include <time.h>

#define VG_AUDIO_SAFE __attribute__((swift_attr("@_noLocks")))

/* Present only when the realtime sanitizer is loaded. */
__attribute__((weak)) void __rtsan_realtime_enter(void);
__attribute__((weak)) void __rtsan_realtime_exit(void);
__attribute__((weak)) void __rtsan_disable(void);
__attribute__((weak)) void __rtsan_enable(void);

/* Around every audio callback: between the two the sanitizer, if loaded,
 * reports whatever could block. [audio] */
VG_AUDIO_SAFE static inline void vg_realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}
VG_AUDIO_SAFE static inline void vg_realtime_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

/* Around what a render does on the thread that processes because nobody waits
 * for it: the sanitizer looks away. Never for live audio. [any] */
static inline void vg_realtime_pause(void) {
  if (__rtsan_disable) __rtsan_disable();
}
static inline void vg_realtime_resume(void) {
  if (__rtsan_enable) __rtsan_enable();
}

/* What libvoicegraph-realtime.so saw, where it was loaded before everything else:
 * how many different things, -1 where it is not there, and each in words. */
__attribute__((weak)) int vg_realtime_seen_count(void);
__attribute__((weak)) const char *_Nonnull vg_realtime_seen(int index);
static inline int vg_realtime_watched(void) { return vg_realtime_seen_count ? vg_realtime_seen_count() : -1; }
static inline const char *_Nullable vg_realtime_watch_text(int index) {
  return vg_realtime_seen ? vg_realtime_seen(index) : 0;
}

/* Flushes denormals to zero on the calling thread: they cost up to 40 times an
 * ordinary number. Floating-point state is per thread. [audio] */
VG_AUDIO_SAFE static inline void vg_denormals_off(void) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u); /* FTZ | DAZ */
#elif defined(__aarch64__)
  uint64_t state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  __asm__ volatile("msr fpcr, %0" ::"r"(state | (1u << 24)));
#endif
}

/* 20 log10(amplitude): linear amplitude to dB. [audio] */
VG_AUDIO_SAFE static inline float vg_amplitude_db(float amplitude) { return 20.0f * log10f(amplitude); }

VG_AUDIO_SAFE static inline double vg_root(double x) { return __builtin_sqrt(x); }

/* Nanoseconds since an arbitrary start; answered without a system call. [audio] */
VG_AUDIO_SAFE static inline uint64_t vg_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A counter of the processor, for differences within one thread. Its rate is
 * measured at start (see Clock). [audio] */
VG_AUDIO_SAFE static inline uint64_t vg_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return vg_nanoseconds();
#endif
}

/* Tells the processor that this is a loop which waits for another thread. [audio] */
VG_AUDIO_SAFE static inline void vg_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Writes the counter to memory: on its way there its halves need not be joined. */
VG_AUDIO_SAFE static inline void vg_stamp(uint64_t *_Nonnull place) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  __builtin_memcpy(place, &low, 4);
  __builtin_memcpy((char *)place + 4, &high, 4);
#else
  *place = vg_ticks();
#endif
}

#endif
