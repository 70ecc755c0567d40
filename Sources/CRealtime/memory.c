// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct mapping {
  unsigned long start, end;
  size_t present, own; /* bytes: own are those that this process wrote, or nobody keeps in a file */
  _Bool is_private, is_usable, is_writable, is_named, is_locked;
} mapping;

/* What a file like /proc/self/maps says, or /proc/self/smaps, which takes milliseconds (proc(5)); freed by the caller. */
static mapping *read_mappings(const char *path, size_t *count) {
  mapping *all = NULL, *last = NULL;
  size_t room = 0;
  char *line = NULL;
  size_t length = 0;
  *count = 0;
  FILE *file = fopen(path, "re");
  while (file && getline(&line, &length, file) > 0) {
    unsigned long start, end, kilobytes;
    char access[5], name[2] = "";
    if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %1s", &start, &end, access, name) >= 3) {
      if (*count == room) {
        room = room ? 2 * room : 256;
        mapping *more = realloc(all, room * sizeof *all);
        if (!more) break;
        all = more;
      }
      last = &all[(*count)++];
      *last = (mapping){start, end, 0, 0, access[3] == 'p', access[0] == 'r', access[1] == 'w', name[0] != 0, 0};
    } else if (last && sscanf(line, "Rss: %lu kB", &kilobytes) == 1) {
      last->present = kilobytes * 1024;
    } else if (last && sscanf(line, "Anonymous: %lu kB", &kilobytes) == 1) {
      last->own = kilobytes * 1024;
    } else if (last && strncmp(line, "VmFlags:", 8) == 0) {
      last->is_locked = strstr(line, " lo") != NULL;
    }
  }
  if (file) fclose(file);
  free(line);
  return all;
}

/* Whether it lies right behind a guard, as the stacks of threads do. */
static _Bool is_stack(const mapping *one, const mapping *before) {
  return before && !one->is_named && !before->is_usable && before->end == one->start && before->end - before->start <= 65536;
}

void vg_release_code(void) {
  size_t count;
  mapping *all = read_mappings("/proc/self/smaps", &count);
  for (size_t i = 0; i < count; i++) {
    mapping *one = &all[i];
    if (!one->is_private || !one->is_usable || one->is_writable || !one->is_named || one->own) continue;
    madvise((void *)one->start, one->end - one->start, MADV_DONTNEED);
  }
  free(all);
}

void vg_lock_memory(void) {
  size_t count;
  /* What is larger is reserved addresses (a sanitizer's shadow, a collector's heap), of which the kernel counts the
   * locked pages in an int. */
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  /* Read first: to lock changes what is read. */
  mapping *all = read_mappings("/proc/self/maps", &count);
  for (size_t i = 0; i < count; i++) {
    mapping *one = &all[i];
    if (!one->is_private || !one->is_usable || is_stack(one, i ? one - 1 : NULL)) continue;
    if (one->end - one->start > memory) continue;
    /* One that is locked already stays as it is, which takes no time. */
    mlock2((void *)one->start, one->end - one->start, MLOCK_ONFAULT);
  }
  free(all);
}

vg_locked vg_locked_memory(void) {
  vg_locked locked = {0, 0};
  size_t count;
  mapping *all = read_mappings("/proc/self/smaps", &count);
  for (size_t i = 0; i < count; i++) {
    if (!all[i].is_private || !all[i].is_locked) continue;
    locked.present += all[i].present;
    locked.mapped += all[i].end - all[i].start;
  }
  free(all);
  return locked;
}

/* More than any node of ours needs; a page that is first touched deeper costs one fault. */
enum { touched = 128 * 1024 };

__attribute__((noinline)) static void touch(void) {
  volatile char room[touched];
  for (size_t i = 0; i < touched; i += 4096) room[i] = 0;
  (void)room[0];
}

void vg_lock_stack(void) {
  pthread_attr_t attributes;
  void *start;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
    mlock2(start, size, MLOCK_ONFAULT);
    if (size >= 2 * touched) touch();
  }
  pthread_attr_destroy(&attributes);
}
