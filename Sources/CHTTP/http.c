/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "http.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of libcurl's ABI, which does not change (curl.se/libcurl/c, curl.h and multi.h). */
enum {
  OPTION_WRITEDATA = 10001,
  OPTION_URL = 10002,
  OPTION_ERRORBUFFER = 10010,
  OPTION_HTTPHEADER = 10023,
  OPTION_HEADERDATA = 10029,
  OPTION_POST = 47,
  OPTION_HTTPGET = 80,
  OPTION_NOSIGNAL = 99,
  OPTION_COPYPOSTFIELDS = 10165,
  OPTION_POSTFIELDSIZE = 60,
  OPTION_PROTOCOLS = 181,
  OPTION_QUICK_EXIT = 322,
  OPTION_WRITEFUNCTION = 20011,
  OPTION_HEADERFUNCTION = 20079,
  INFO_STATUS = 0x200002,
  INFO_REDIRECT = 0x10001F, /* where a redirection leads to, as a whole address */
  INFO_UNTIL_SENDING = 0x300006, /* seconds until the request is sent; 0: not yet */
  PROTOCOL_HTTP = 1,
  PROTOCOL_HTTPS = 2,
  PAUSE = 0x10000001,
  GO_ON = 0,
  GLOBAL_ALL = 3,
  MESSAGE_DONE = 1,
};

/* What of an answer waits for the caller at most, but for what libcurl has read at once: 16 kB. */
enum { MOST_WAITING = 65536 };

typedef struct {
  int message;
  void *easy;
  union {
    void *other;
    int result;
  } data;
} multi_message;

/* libcurl's functions. */
static struct {
  bool has_begun;
  char fault[VG_HTTP_ERROR];
  int (*global_init)(long flags);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *easy);
  int (*easy_setopt)(void *easy, int option, ...);
  int (*easy_getinfo)(void *easy, int info, ...);
  int (*easy_pause)(void *easy, int mask);
  const char *(*easy_strerror)(int code);
  void *(*slist_append)(void *list, const char *text);
  void (*slist_free_all)(void *list);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *multi);
  int (*multi_add_handle)(void *multi, void *easy);
  int (*multi_remove_handle)(void *multi, void *easy);
  int (*multi_perform)(void *multi, int *running);
  int (*multi_poll)(void *multi, void *extra, unsigned count, int milliseconds, int *ready);
  multi_message *(*multi_info_read)(void *multi, int *left);
} curl;

static void begin(vg_http_find find) {
  const struct {
    void *place;
    const char *name;
  } functions[] = {
      {&curl.global_init, "curl_global_init"},   {&curl.easy_init, "curl_easy_init"},
      {&curl.easy_cleanup, "curl_easy_cleanup"}, {&curl.easy_setopt, "curl_easy_setopt"},
      {&curl.easy_getinfo, "curl_easy_getinfo"}, {&curl.easy_pause, "curl_easy_pause"},
      {&curl.easy_strerror, "curl_easy_strerror"}, {&curl.slist_append, "curl_slist_append"},
      {&curl.slist_free_all, "curl_slist_free_all"}, {&curl.multi_init, "curl_multi_init"},
      {&curl.multi_cleanup, "curl_multi_cleanup"}, {&curl.multi_add_handle, "curl_multi_add_handle"},
      {&curl.multi_remove_handle, "curl_multi_remove_handle"}, {&curl.multi_perform, "curl_multi_perform"},
      {&curl.multi_poll, "curl_multi_poll"},     {&curl.multi_info_read, "curl_multi_info_read"},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    void *function = find(functions[index].name);
    if (!function) {
      snprintf(curl.fault, sizeof curl.fault, "libcurl has no function %s", functions[index].name);
      return;
    }
    memcpy(functions[index].place, &function, sizeof function);
  }
  int code = curl.global_init(GLOBAL_ALL);
  if (code) snprintf(curl.fault, sizeof curl.fault, "libcurl does not begin: %s", curl.easy_strerror(code));
}

struct vg_http {
  void *multi;
};

struct vg_transfer {
  vg_http *http;
  void *easy;
  void *headers;
  bool told_sent, told_status, has_ended, told_end, is_paused;
  long status;
  int result;
  char retry[64];
  char reason[VG_HTTP_ERROR]; /* libcurl writes 256 bytes at most */
  char *waiting, *given;      /* what the caller has not got, and what it has */
  size_t length, capacity, given_capacity;
};

vg_http *vg_http_open(vg_http_find find, char *error) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!curl.has_begun) begin(find);
  curl.has_begun = true;
  pthread_mutex_unlock(&lock);
  snprintf(error, VG_HTTP_ERROR, "%s", curl.fault);
  if (*curl.fault) return NULL;
  vg_http *http = calloc(1, sizeof *http);
  if (http) http->multi = curl.multi_init();
  if (http && http->multi) return http;
  snprintf(error, VG_HTTP_ERROR, "there is no memory");
  free(http);
  return NULL;
}

void vg_http_close(vg_http *http) {
  curl.multi_cleanup(http->multi);
  free(http);
}

/* Takes a piece of an answer; when enough waits, the rest has to wait outside. */
static size_t take(const char *data, size_t size, size_t count, void *context) {
  vg_transfer *transfer = context;
  size_t length = size * count;
  if (transfer->length >= MOST_WAITING) {
    transfer->is_paused = true;
    return PAUSE;
  }
  if (transfer->length + length > transfer->capacity) {
    size_t capacity = 2 * (transfer->length + length);
    char *more = realloc(transfer->waiting, capacity);
    if (!more) return 0;
    transfer->waiting = more;
    transfer->capacity = capacity;
  }
  memcpy(transfer->waiting + transfer->length, data, length);
  transfer->length += length;
  return length;
}

/* Takes a line of the head; an empty one is its end. */
static size_t take_header(const char *line, size_t size, size_t count, void *context) {
  static const char name[] = "retry-after:";
  vg_transfer *transfer = context;
  size_t length = size * count;
  size_t start = sizeof name - 1;
  if (length > start && strncasecmp(line, name, start) == 0) {
    while (start < length && isspace((unsigned char)line[start])) start++;
    while (length > start && isspace((unsigned char)line[length - 1])) length--;
    snprintf(transfer->retry, sizeof transfer->retry, "%.*s", (int)(length - start), line + start);
  } else if (length == 2 && line[0] == '\r') {
    long status = 0;
    curl.easy_getinfo(transfer->easy, INFO_STATUS, &status);
    /* 1xx: another head follows. */
    if (status >= 200) transfer->status = status;
  }
  return size * count;
}

vg_transfer *vg_http_begin(vg_http *http, const char *url, const char *const *headers, const void *body, size_t length) {
  vg_transfer *transfer = calloc(1, sizeof *transfer);
  if (!transfer) return NULL;
  transfer->http = http;
  transfer->easy = curl.easy_init();
  if (!transfer->easy) {
    free(transfer);
    return NULL;
  }
  for (; *headers; headers++) {
    void *longer = curl.slist_append(transfer->headers, *headers);
    if (longer) transfer->headers = longer;
  }
  void *easy = transfer->easy;
  curl.easy_setopt(easy, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
  curl.easy_setopt(easy, OPTION_NOSIGNAL, 1L);
  /* Whoever gives up does not wait for a name to be looked up. */
  curl.easy_setopt(easy, OPTION_QUICK_EXIT, 1L);
  curl.easy_setopt(easy, OPTION_ERRORBUFFER, transfer->reason);
  if (body) {
    curl.easy_setopt(easy, OPTION_POST, 1L);
    curl.easy_setopt(easy, OPTION_POSTFIELDSIZE, (long)length);
  } else {
    curl.easy_setopt(easy, OPTION_HTTPGET, 1L);
  }
  curl.easy_setopt(easy, OPTION_HTTPHEADER, transfer->headers);
  curl.easy_setopt(easy, OPTION_WRITEFUNCTION, take);
  curl.easy_setopt(easy, OPTION_WRITEDATA, transfer);
  curl.easy_setopt(easy, OPTION_HEADERFUNCTION, take_header);
  curl.easy_setopt(easy, OPTION_HEADERDATA, transfer);
  bool is_fine = (!body || curl.easy_setopt(easy, OPTION_COPYPOSTFIELDS, body) == 0) &&
                 curl.easy_setopt(easy, OPTION_URL, url) == 0 && curl.multi_add_handle(http->multi, easy) == 0;
  if (is_fine) return transfer;
  curl.easy_cleanup(easy);
  curl.slist_free_all(transfer->headers);
  free(transfer);
  return NULL;
}

/* Lets the client work; whether this transfer has ended. */
static void perform(vg_transfer *transfer) {
  int running = 0, left = 0;
  if (transfer->is_paused && transfer->length < MOST_WAITING) {
    transfer->is_paused = false;
    curl.easy_pause(transfer->easy, GO_ON);
  }
  curl.multi_perform(transfer->http->multi, &running);
  for (multi_message *message; (message = curl.multi_info_read(transfer->http->multi, &left));) {
    if (message->message != MESSAGE_DONE || message->easy != transfer->easy) continue;
    transfer->has_ended = true;
    transfer->result = message->data.result;
    if (transfer->result && !*transfer->reason)
      snprintf(transfer->reason, sizeof transfer->reason, "%s", curl.easy_strerror(transfer->result));
  }
}

/* What the caller has not been told. */
static vg_transfer_event news(vg_transfer *transfer) {
  double seconds = 0;
  if (!transfer->told_sent) {
    curl.easy_getinfo(transfer->easy, INFO_UNTIL_SENDING, &seconds);
    if (seconds > 0) {
      transfer->told_sent = true;
      return (vg_transfer_event){VG_TRANSFER_SENT, 0, "", 0};
    }
  }
  if (transfer->status && !transfer->told_status) {
    transfer->told_status = true;
    return (vg_transfer_event){VG_TRANSFER_STATUS, transfer->status, transfer->retry, strlen(transfer->retry)};
  }
  if (transfer->length) {
    char *text = transfer->waiting;
    size_t length = transfer->length, capacity = transfer->capacity;
    transfer->waiting = transfer->given;
    transfer->capacity = transfer->given_capacity;
    transfer->length = 0;
    transfer->given = text;
    transfer->given_capacity = capacity;
    return (vg_transfer_event){VG_TRANSFER_DATA, 0, text, length};
  }
  if (transfer->has_ended && !transfer->told_end && !transfer->is_paused) {
    transfer->told_end = true;
    return (vg_transfer_event){VG_TRANSFER_END, transfer->result, transfer->reason, strlen(transfer->reason)};
  }
  return (vg_transfer_event){VG_TRANSFER_NOTHING, 0, "", 0};
}

vg_transfer_event vg_transfer_next(vg_transfer *transfer, int milliseconds) {
  vg_transfer_event event = news(transfer);
  if (event.kind || transfer->told_end) return event;
  perform(transfer);
  event = news(transfer);
  if (event.kind) return event;
  curl.multi_poll(transfer->http->multi, NULL, 0, milliseconds, NULL);
  perform(transfer);
  return news(transfer);
}

const char *vg_transfer_redirection(vg_transfer *transfer) {
  const char *url = NULL;
  curl.easy_getinfo(transfer->easy, INFO_REDIRECT, &url);
  return url ? url : "";
}

void vg_transfer_end(vg_transfer *transfer) {
  curl.multi_remove_handle(transfer->http->multi, transfer->easy);
  curl.easy_cleanup(transfer->easy);
  curl.slist_free_all(transfer->headers);
  free(transfer->waiting);
  free(transfer->given);
  free(transfer);
}
