/* SPDX-License-Identifier: Apache-2.0
 *
 * The short way through a processor whose work is one call into code that knows
 * nothing of the host, `run(handle, frames)`: for blocks in which nothing moved
 * since the last. In C, because Swift cannot choose a function's instruction
 * set: half of what such a block costs is the zeroing of the outputs. */
#ifndef VOICEGRAPH_FOREIGN_H
#define VOICEGRAPH_FOREIGN_H

#include "audio.h"

/* An audio port of the code's own and what it is connected to. Connecting is a
 * call into the code, so it is done only when that changes. */
typedef struct vg_foreign_port {
  float *VG_NONNULL connected;
  uint32_t port;
} vg_foreign_port;

/* What lets it take the short way. */
typedef struct vg_foreign_state {
  uint64_t revision; /* the vg_cycle.revision that it has seen; UINT64_MAX: none */
  uint8_t moved;     /* not 0: something else than that asks for the long way. Atomic, [any] */
} vg_foreign_state;

/* How such a processor begins. */
typedef struct vg_foreign {
  vg_process_function VG_NONNULL steady; /* what vg_foreign_choose gives, or `moved` */
  vg_process_function VG_NONNULL moved;  /* the long way: takes parameters and buffers anew */
  const vg_foreign_state *VG_NONNULL state;
  const vg_foreign_port *VG_NONNULL outputs, *VG_NONNULL output_end;
  void *VG_NONNULL handle;
  void (*VG_NONNULL run)(void *VG_NONNULL handle, uint32_t frames);
} vg_foreign;

/* A node type's process function for processors that begin with vg_foreign:
 * goes on with `steady`. [audio] */
VG_AUDIO void vg_foreign_process(void *VG_NONNULL processor, const vg_io *VG_NONNULL io, const vg_cycle *VG_NONNULL cycle);

/* The fastest `steady` of this processor for code with at least one output:
 * zeroes the outputs, which some code adds to or leaves alone, and runs; or goes
 * on with `moved`. [control] */
vg_process_function VG_NONNULL vg_foreign_choose(void);

#endif
