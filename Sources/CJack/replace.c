/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "replace.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct library {
  ElfW(Addr) base;
  const ElfW(Dyn) * dynamic;
  /* What the linker has made unwritable after it had filled it. */
  uintptr_t sealed, sealed_end;
};

static int find_sealed(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  struct library *library = argument;
  if (info->dlpi_addr != library->base) return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_GNU_RELRO) continue;
    library->sealed = (library->base + part->p_vaddr) & ~(page - 1);
    library->sealed_end = (library->base + part->p_vaddr + part->p_memsz) & ~(page - 1);
  }
  return 1;
}

static _Bool put(const struct library *library, uintptr_t place, uintptr_t function) {
  _Bool sealed = place >= library->sealed && place < library->sealed_end;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)(place & ~(page - 1));
  if (sealed && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return 0;
  __atomic_store_n((uintptr_t *)place, function, __ATOMIC_RELEASE);
  if (sealed) mprotect(start, page, PROT_READ);
  return 1;
}

/* Some machines leave the addresses of the table as they are in the file. */
static const void *at(const struct library *library, ElfW(Addr) address) {
  return (const void *)(address < library->base ? library->base + address : address);
}

static ElfW(Addr) entry(const struct library *library, ElfW(Sxword) tag) {
  for (const ElfW(Dyn) *entry = library->dynamic; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == tag) return entry->d_un.d_ptr;
  return 0;
}

static _Bool replace_in(
    const struct library *library, ElfW(Addr) table, size_t bytes, const char *name, uintptr_t function) {
  const char *names = at(library, entry(library, DT_STRTAB));
  const ElfW(Sym) *symbols = at(library, entry(library, DT_SYMTAB));
  const ElfW(Rela) *places = table ? at(library, table) : NULL;
  _Bool replaced = 0;
  for (size_t i = 0; places && i < bytes / sizeof *places; i++) {
    size_t symbol = (size_t)(places[i].r_info >> (sizeof(void *) == 8 ? 32 : 8));
    if (!symbol || strcmp(names + symbols[symbol].st_name, name) != 0) continue;
    if (put(library, library->base + places[i].r_offset, function)) replaced = 1;
  }
  return replaced;
}

_Bool vg_replace(void *handle, const char *name, void (*function)(void)) {
  struct link_map *map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return 0;
  struct library library = {map->l_addr, map->l_ld, 0, 0};
  dl_iterate_phdr(find_sealed, &library);
  _Bool replaced = 0;
  uintptr_t address = (uintptr_t)function;
  /* Functions that are called, and those whose address is taken. */
  if (entry(&library, DT_PLTREL) == DT_RELA)
    replaced = replace_in(&library, entry(&library, DT_JMPREL), entry(&library, DT_PLTRELSZ), name, address);
  return replace_in(&library, entry(&library, DT_RELA), entry(&library, DT_RELASZ), name, address) || replaced;
}
