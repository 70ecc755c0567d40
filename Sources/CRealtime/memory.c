// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "memory.h"

#include <link.h>
#include <malloc.h>
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

typedef struct mappings {
  mapping *all;
  size_t count;
} mappings;

/* Whether nobody wrote to what lies between both addresses, which was one mapping when it was looked at. */
static _Bool is_pure(const mappings *known, unsigned long start, unsigned long end) {
  for (size_t i = 0; i < known->count; i++) {
    const mapping *one = &known->all[i];
    if (one->start <= start && end <= one->end) {
      return one->is_private && one->is_usable && !one->is_writable && one->is_named && one->own == 0;
    }
  }
  return 0;
}

/* Of a program or library that stays loaded meanwhile: code and constants, which its loading does not write to, unless
 * there are relocations among them. */
static int release_object(struct dl_phdr_info *object, size_t size, void *context) {
  const mappings *known = context;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *entry = (void *)(object->dlpi_addr + part->p_vaddr); entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return 0;
    }
  }
  unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    unsigned long start = (object->dlpi_addr + part->p_vaddr) & -page;
    unsigned long end = (object->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) & -page;
    if (is_pure(known, start, end)) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void vg_release_code(void) {
  mappings known;
  known.all = read_mappings("/proc/self/smaps", &known.count);
  /* Other threads may load and unload: here none can. */
  dl_iterate_phdr(release_object, &known);
  free(known.all);
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

void vg_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }

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

size_t vg_heap_bytes(void) {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}
