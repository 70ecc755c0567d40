/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: counts what a process has from malloc and has not freed, in the file that HEAP names: i64 bytes, i64 pieces,
 * i64 process. The first process with this file has it, also after exec; its children and others count for themselves.
 *
 * What the kernel tells of a process has what malloc keeps free as well, and what each thread has of it at hand: that
 * changes by megabytes where nothing is lost. This is exact. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

typedef struct heap {
  atomic_long bytes, pieces, process;
} heap;

static heap early;
static heap *own = &early;

static void *given(void *piece) {
  if (!piece) return NULL;
  atomic_fetch_add_explicit(&own->bytes, (long)malloc_usable_size(piece), memory_order_relaxed);
  atomic_fetch_add_explicit(&own->pieces, 1, memory_order_relaxed);
  return piece;
}

static void taken(long bytes) {
  atomic_fetch_sub_explicit(&own->bytes, bytes, memory_order_relaxed);
  atomic_fetch_sub_explicit(&own->pieces, 1, memory_order_relaxed);
}

void *malloc(size_t size) { return given(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return given(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return given(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return given(__libc_memalign(alignment, size)); }

int posix_memalign(void **piece, size_t alignment, size_t size) {
  void *found = given(__libc_memalign(alignment, size));
  if (!found) return ENOMEM;
  *piece = found;
  return 0;
}

void *realloc(void *piece, size_t size) {
  long before = (long)malloc_usable_size(piece);
  void *found = __libc_realloc(piece, size);
  if (piece && (found || size == 0)) taken(before);
  return given(found);
}

void free(void *piece) {
  if (!piece) return;
  taken((long)malloc_usable_size(piece));
  __libc_free(piece);
}

/* Before there are other threads. */
__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("HEAP");
  int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof(heap)) != 0) return;
  heap *shared = mmap(NULL, sizeof(heap), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) return;
  long nobody = 0, self = getpid();
  if (!atomic_compare_exchange_strong(&shared->process, &nobody, self) && nobody != self) return;
  atomic_store(&shared->bytes, atomic_load(&early.bytes));
  atomic_store(&shared->pieces, atomic_load(&early.pieces));
  own = shared;
}
