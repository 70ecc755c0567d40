// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void vg_thread_name(const char *name) {
  prctl(PR_SET_NAME, name); /* which takes 15 bytes and ignores the rest */
}

pid_t vg_thread_id(void) { return gettid(); }

int vg_event_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void vg_event_signal(int descriptor) {
  int error = errno;
  /* Fails only when the count is full, and then the waiter is awake anyway. */
  (void)!eventfd_write(descriptor, 1);
  errno = error;
}

_Bool vg_event_wait(int descriptor, int milliseconds) {
  struct pollfd entry = {descriptor, POLLIN, 0};
  eventfd_t count;
  return poll(&entry, 1, milliseconds) > 0 && eventfd_read(descriptor, &count) == 0;
}

void vg_nap(const void *word, uint32_t value, uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  int error = errno;
  vg_realtime_pause();
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds ? &time : NULL, NULL, 0);
  vg_realtime_resume();
  errno = error;
}

void vg_rouse(const void *word, int count) {
  int error = errno;
  vg_realtime_pause();
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
  vg_realtime_resume();
  errno = error;
}

int vg_processor_count(void) {
  /* The kernel refuses a set that is smaller than its own. */
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(size);
    if (!set) return 1;
    size_t bytes = CPU_ALLOC_SIZE(size);
    int failed = sched_getaffinity(0, bytes, set);
    int count = failed ? 0 : CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return 1;
}

_Bool vg_pipe_open(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

int vg_accept(int listener, uid_t *user) {
  int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection < 0) return -1;
  struct ucred peer = {0, (uid_t)-1, (gid_t)-1};
  socklen_t size = sizeof peer;
  /* Of a peer about whom nothing can be learned, nothing is believed. */
  getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  *user = peer.uid;
  return connection;
}

/* Runs in the child before it becomes another program, on the parent's memory
 * while its thread waits: system calls only. */
static int become(char *const *arguments, char *const *environment, const int descriptors[4], int end_signal,
                  pid_t parent) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  setpgid(0, 0);
  /* Before anything can stop the child for good: it stays when the program changes. */
  if (end_signal) prctl(PR_SET_PDEATHSIG, end_signal);
  if (getppid() != parent) return ECANCELED; /* the parent ended before the line above */
  /* First out of the way of each other: one may have the number that another is to get. */
  int copies[4];
  int empty = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int number = 0; number < 4; number++) {
    int from = descriptors[number] >= 0 || number == 3 ? descriptors[number] : empty;
    copies[number] = from >= 0 ? fcntl(from, F_DUPFD_CLOEXEC, 4) : -1;
    if (copies[number] < 0 && (from >= 0 || number < 3)) return errno;
  }
  for (int number = 0; number < 4; number++) {
    if (copies[number] < 0) close(number);
    else if (dup2(copies[number], number) < 0) return errno;
  }
  close_range(4, ~0u, CLOSE_RANGE_CLOEXEC);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(arguments[0], arguments, environment);
  return errno;
}

pid_t vg_child_start(char *const *arguments, char *const *environment, const int descriptors[4], int end_signal) {
  int report[2]; /* closed by a successful exec, carries errno otherwise */
  if (pipe2(report, O_CLOEXEC) != 0) return -errno;
  /* Beyond the numbers that the child's descriptors get. */
  int told = fcntl(report[1], F_DUPFD_CLOEXEC, 4);
  int error = told < 0 ? errno : 0;
  close(report[1]);
  pid_t child = -1;
  if (!error) {
    /* A signal that came in between must not run our handlers in the child. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    child = vfork();
    if (child == 0) {
      int failure = become(arguments, environment, descriptors, end_signal, parent);
      _exit(write(told, &failure, sizeof failure) < 0 ? 126 : 127);
    }
    if (child < 0) error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(told);
  }
  if (!error) {
    /* Where a sanitizer makes a fork of the vfork, this waits for the exec. */
    int failure = 0;
    ssize_t got;
    do got = read(report[0], &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof failure) {
      error = failure;
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
      }
    }
  }
  close(report[0]);
  return error ? -error : child;
}
