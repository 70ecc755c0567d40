/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program's threads need of Linux beyond what Swift's Glibc module
 * shows: threads, waiting, child processes. */
#ifndef VOICEGRAPH_SYSTEM_H
#define VOICEGRAPH_SYSTEM_H

#include "realtime.h"
#include <sys/types.h>

/* Names the calling thread; more than 15 bytes are cut off. [any] */
void vg_thread_name(const char *name);
/* The kernel's id of the calling thread: a system call that waits for nothing,
 * to be made once per thread. [audio] */
VG_AUDIO_SAFE pid_t vg_thread_id(void);

/* A descriptor that can be signalled and waited for; -1: out of descriptors. [control] */
int vg_event_open(void);
/* Signals it, in about 0.2 us and without waiting. [any] */
void vg_event_signal(int descriptor);
/* Waits for a signal, at most `milliseconds` (-1: for ever), and takes all of
 * them; false: none came. [control] */
_Bool vg_event_wait(int descriptor, int milliseconds);

/* Sleeps while `*word == value`, for `nanoseconds` at most (0: any time); also
 * returns without a reason. For threads that share a block's work: between two
 * cycles, or while another has the last part of it in hand. [audio] */
VG_AUDIO_SAFE void vg_nap(const void *word, uint32_t value, uint64_t nanoseconds);
/* Wakes up to `count` threads of this process that nap on `word`: a system call
 * that waits for nothing. [audio] */
VG_AUDIO_SAFE void vg_rouse(const void *word, int count);
/* Processors that this process may use; at least 1. [any] */
int vg_processor_count(void);

/* A pipe that no child inherits; false: out of descriptors. [any] */
_Bool vg_pipe_open(int ends[2]);

/* Takes one connection of a listening local socket, non-blocking, and tells the
 * user at the other end; -1 with errno when there is none. [control] */
int vg_accept(int listener, uid_t *user);

/* Sleeps until vg_nanoseconds() reaches `due`: for a timer-driven audio thread
 * between two cycles, and for one that a freewheeling server waits for. */
VG_AUDIO_SAFE static inline void vg_sleep_until(uint64_t due) {
  struct timespec time = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, 0) != 0) {
  }
}

/* Starts `arguments[0]` (an absolute path) in a process group of its own, so
 * that a terminal's Ctrl-C does not reach it, with default signal handling. Its
 * descriptors 0 to 3 are those of `descriptors`, where -1 stands for an empty
 * file, and for none as descriptor 3; no other is passed on. The kernel sends it
 * `end_signal` (0: nothing) when the calling thread ends: that thread must live
 * as long as the child. Nothing is copied as fork does, so that the audio thread
 * meets no copy-on-write pages. Returns its id, or -errno. [control] */
pid_t vg_child_start(char *const *arguments, char *const *environment, const int descriptors[4], int end_signal);

#endif
