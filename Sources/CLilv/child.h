/* SPDX-License-Identifier: Apache-2.0
 *
 * What Swift does not see of starting child processes. */
#ifndef VOICEGRAPH_CHILD_H
#define VOICEGRAPH_CHILD_H

#include <spawn.h>

/* The child gets no descriptor from `first` on. [control] */
static inline int vg_spawn_close_from(posix_spawn_file_actions_t *_Nonnull actions, int first) {
  extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

#endif
