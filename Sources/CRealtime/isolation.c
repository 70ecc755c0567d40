// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "isolation.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void vg_shared_wait(const void *word, uint32_t value, uint64_t due) {
  struct timespec time = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
  int error = errno;
  vg_realtime_pause();
  /* An absolute time of CLOCK_MONOTONIC: interrupted waits do not add up. */
  syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &time, NULL, FUTEX_BITSET_MATCH_ANY);
  vg_realtime_resume();
  errno = error;
}

void vg_shared_wake(const void *word) {
  int error = errno;
  vg_realtime_pause();
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
  vg_realtime_resume();
  errno = error;
}

void vg_event_alarm(int descriptor) {
  vg_realtime_pause();
  vg_event_signal(descriptor);
  vg_realtime_resume();
}

int vg_shared_memory(const char *name, size_t size) {
  int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, (off_t)size) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

void *vg_shared_map(int descriptor, size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

_Bool vg_channel_open(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0; }

ssize_t vg_channel_send(int channel, const void *bytes, size_t size, int passed, int milliseconds) {
  struct iovec part = {(void *)bytes, size};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (passed >= 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
  }
  for (;;) {
    ssize_t sent = sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    struct pollfd entry = {channel, POLLOUT, 0};
    if (poll(&entry, 1, milliseconds) == 0) return 0;
  }
}

ssize_t vg_channel_receive(int channel, void *bytes, size_t size, int *passed) {
  struct iovec part = {bytes, size};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
  ssize_t received;
  do received = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received <= 0) return 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    if (*passed >= 0) close(*passed);
    memcpy(passed, CMSG_DATA(header), sizeof *passed);
  }
  return received;
}

_Bool vg_isolate_is_kept(pid_t parent) { return getppid() == parent; }

/* Present when a sanitizer is built in, which takes terabytes of addresses. */
__attribute__((weak)) void __asan_init(void);
__attribute__((weak)) void __tsan_init(void);

void vg_isolate_limit(uint64_t bytes, uint32_t milliseconds) {
  struct rlimit limit = {0, 0};
  setrlimit(RLIMIT_CORE, &limit);
  if (bytes && !__asan_init && !__tsan_init) {
    limit.rlim_cur = limit.rlim_max = bytes;
    setrlimit(RLIMIT_AS, &limit);
  }
  /* In microseconds. The soft limit raises SIGXCPU, which ends the process and says why; the hard one, which is looked at
   * first, ends with SIGKILL what blocks that. */
  rlim_t wanted = (rlim_t)milliseconds * 1000;
  if (getrlimit(RLIMIT_RTTIME, &limit)) limit.rlim_max = RLIM_INFINITY;
  if (limit.rlim_max > wanted + 1000000) limit.rlim_max = wanted + 1000000;
  limit.rlim_cur = wanted < limit.rlim_max / 2 ? wanted : limit.rlim_max / 2;
  setrlimit(RLIMIT_RTTIME, &limit);
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "1000", 4) < 0) { /* then it is as good a victim as any other */
  }
  close(file);
}

int vg_isolate_watch(pid_t child) { return (int)syscall(SYS_pidfd_open, child, 0); }

_Bool vg_isolate_reap(pid_t child, int *status, uint64_t *memory) {
  struct rusage usage;
  pid_t ended;
  do ended = wait4(child, status, WNOHANG, &usage);
  while (ended < 0 && errno == EINTR);
  if (ended != child) return 0;
  *memory = (uint64_t)usage.ru_maxrss * 1024;
  return 1;
}
