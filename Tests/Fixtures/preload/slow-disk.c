/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: while there is a file named by SLOW_DISK, whoever writes to another file, or waits until it is on disk,
 * waits, as on a disk that has stopped; a file with "-held" after that name tells that somebody waits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void wait_for_disk(int descriptor) {
  struct stat status;
  const char *mark = getenv("SLOW_DISK");
  if (!mark || fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return;
  /* What the test reads of the program is no recording. */
  if (descriptor <= STDERR_FILENO) return;
  char held[4096];
  if (access(mark, F_OK) == 0 && snprintf(held, sizeof held, "%s-held", mark) < (int)sizeof held)
    close(open(held, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  while (access(mark, F_OK) == 0) usleep(2000);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  wait_for_disk(descriptor);
  return real(descriptor, bytes, count);
}

int fsync(int descriptor) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  wait_for_disk(descriptor);
  return real(descriptor);
}
