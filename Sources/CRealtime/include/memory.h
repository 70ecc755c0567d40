/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps in memory what realtime threads may touch, so that none of them ever
 * waits for a disk. */
#ifndef VOICEGRAPH_MEMORY_H
#define VOICEGRAPH_MEMORY_H

#include <stddef.h>

/* What this process has locked of its own. */
typedef struct vg_locked {
  size_t present; /* bytes that are in memory, and stay there */
  size_t mapped;  /* bytes of address space of which pages stay once they are touched; this is what VmLck counts */
} vg_locked;

/* Lets go of the code and constants that were touched so far, which are read
 * again from their files where they are touched again: most of what begins a
 * program is needed once. What is locked stays. [control, before audio threads
 * run] */
void vg_release_code(void);

/* Locks what this process has in memory now, and what it touches later of the
 * same mappings: code, data, heap. Nothing is read in or made for that. Left out
 * are the stacks of threads that did not call vg_lock_stack, what is shared with
 * other processes, and mappings larger than the machine's memory. Call it again for mappings that are new. What the limit
 * of this user does not allow is left as it is. [control] */
void vg_lock_memory(void);

/* From now on all threads share so many heaps, which then keep less that is
 * free. Call it before there are other threads. [control] */
void vg_limit_heaps(int count);

/* Bytes that malloc has given out and not taken back. [any] */
size_t vg_heap_bytes(void);

/* How much is locked now. It looks at every page, which takes milliseconds.
 * [control] */
vg_locked vg_locked_memory(void);

/* Locks the stack of the calling thread, and touches as much of it as a block
 * may need. [audio, before its first block] */
void vg_lock_stack(void);

#endif
