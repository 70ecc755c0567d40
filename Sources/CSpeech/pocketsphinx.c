/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pocketsphinx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ERR_ERROR of sphinxbase/err.h. */
enum { LEVEL_ERROR = 4 };

static _Thread_local char first_error[VG_SPHINX_MESSAGE];

static void keep(void *user, int level, const char *format, ...) {
  (void)user;
  if (level < LEVEL_ERROR) return;
  char text[VG_SPHINX_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  /* The first says what was wrong; those after it, what followed from it. */
  if (!first_error[0]) memcpy(first_error, text, sizeof text);
}

void vg_pocketsphinx_listen(const vg_pocketsphinx *library) {
  first_error[0] = 0;
  library->err_set_logfp(NULL);
  library->err_set_callback((void *)keep, NULL);
}

void vg_pocketsphinx_error(char *text) {
  memcpy(text, first_error, sizeof first_error);
  first_error[0] = 0;
}

int vg_memory_file(const void *bytes, size_t size) {
  int file = memfd_create("words", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (write(file, bytes, size) != (ssize_t)size || lseek(file, 0, SEEK_SET) != 0) {
    close(file);
    return -1;
  }
  return file;
}
