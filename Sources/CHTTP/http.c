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

struct vg_post {
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
  vg_post *post = context;
  size_t length = size * count;
  if (post->length >= MOST_WAITING) {
    post->is_paused = true;
    return PAUSE;
  }
  if (post->length + length > post->capacity) {
    size_t capacity = 2 * (post->length + length);
    char *more = realloc(post->waiting, capacity);
    if (!more) return 0;
    post->waiting = more;
    post->capacity = capacity;
  }
  memcpy(post->waiting + post->length, data, length);
  post->length += length;
  return length;
}

/* Takes a line of the head; an empty one is its end. */
static size_t take_header(const char *line, size_t size, size_t count, void *context) {
  static const char name[] = "retry-after:";
  vg_post *post = context;
  size_t length = size * count;
  size_t start = sizeof name - 1;
  if (length > start && strncasecmp(line, name, start) == 0) {
    while (start < length && isspace((unsigned char)line[start])) start++;
    while (length > start && isspace((unsigned char)line[length - 1])) length--;
    snprintf(post->retry, sizeof post->retry, "%.*s", (int)(length - start), line + start);
  } else if (length == 2 && line[0] == '\r') {
    long status = 0;
    curl.easy_getinfo(post->easy, INFO_STATUS, &status);
    /* 1xx: another head follows. */
    if (status >= 200) post->status = status;
  }
  return size * count;
}

vg_post *vg_http_post(vg_http *http, const char *url, const char *const *headers, const void *body, size_t length) {
  vg_post *post = calloc(1, sizeof *post);
  if (!post) return NULL;
  post->http = http;
  post->easy = curl.easy_init();
  if (!post->easy) {
    free(post);
    return NULL;
  }
  for (; *headers; headers++) {
    void *longer = curl.slist_append(post->headers, *headers);
    if (longer) post->headers = longer;
  }
  void *easy = post->easy;
  curl.easy_setopt(easy, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
  curl.easy_setopt(easy, OPTION_NOSIGNAL, 1L);
  /* Whoever gives up does not wait for a name to be looked up. */
  curl.easy_setopt(easy, OPTION_QUICK_EXIT, 1L);
  curl.easy_setopt(easy, OPTION_ERRORBUFFER, post->reason);
  curl.easy_setopt(easy, OPTION_POST, 1L);
  curl.easy_setopt(easy, OPTION_POSTFIELDSIZE, (long)length);
  curl.easy_setopt(easy, OPTION_HTTPHEADER, post->headers);
  curl.easy_setopt(easy, OPTION_WRITEFUNCTION, take);
  curl.easy_setopt(easy, OPTION_WRITEDATA, post);
  curl.easy_setopt(easy, OPTION_HEADERFUNCTION, take_header);
  curl.easy_setopt(easy, OPTION_HEADERDATA, post);
  bool is_fine = curl.easy_setopt(easy, OPTION_COPYPOSTFIELDS, body) == 0 &&
                 curl.easy_setopt(easy, OPTION_URL, url) == 0 && curl.multi_add_handle(http->multi, easy) == 0;
  if (is_fine) return post;
  curl.easy_cleanup(easy);
  curl.slist_free_all(post->headers);
  free(post);
  return NULL;
}

/* Lets the client work; whether this post has ended. */
static void perform(vg_post *post) {
  int running = 0, left = 0;
  if (post->is_paused && post->length < MOST_WAITING) {
    post->is_paused = false;
    curl.easy_pause(post->easy, GO_ON);
  }
  curl.multi_perform(post->http->multi, &running);
  for (multi_message *message; (message = curl.multi_info_read(post->http->multi, &left));) {
    if (message->message != MESSAGE_DONE || message->easy != post->easy) continue;
    post->has_ended = true;
    post->result = message->data.result;
    if (post->result && !*post->reason)
      snprintf(post->reason, sizeof post->reason, "%s", curl.easy_strerror(post->result));
  }
}

/* What the caller has not been told. */
static vg_post_event news(vg_post *post) {
  double seconds = 0;
  if (!post->told_sent) {
    curl.easy_getinfo(post->easy, INFO_UNTIL_SENDING, &seconds);
    if (seconds > 0) {
      post->told_sent = true;
      return (vg_post_event){VG_POST_SENT, 0, "", 0};
    }
  }
  if (post->status && !post->told_status) {
    post->told_status = true;
    return (vg_post_event){VG_POST_STATUS, post->status, post->retry, strlen(post->retry)};
  }
  if (post->length) {
    char *text = post->waiting;
    size_t length = post->length, capacity = post->capacity;
    post->waiting = post->given;
    post->capacity = post->given_capacity;
    post->length = 0;
    post->given = text;
    post->given_capacity = capacity;
    return (vg_post_event){VG_POST_DATA, 0, text, length};
  }
  if (post->has_ended && !post->told_end && !post->is_paused) {
    post->told_end = true;
    return (vg_post_event){VG_POST_END, post->result, post->reason, strlen(post->reason)};
  }
  return (vg_post_event){VG_POST_NOTHING, 0, "", 0};
}

vg_post_event vg_post_next(vg_post *post, int milliseconds) {
  vg_post_event event = news(post);
  if (event.kind || post->told_end) return event;
  perform(post);
  event = news(post);
  if (event.kind) return event;
  curl.multi_poll(post->http->multi, NULL, 0, milliseconds, NULL);
  perform(post);
  return news(post);
}

const char *vg_post_redirection(vg_post *post) {
  const char *url = NULL;
  curl.easy_getinfo(post->easy, INFO_REDIRECT, &url);
  return url ? url : "";
}

void vg_post_end(vg_post *post) {
  curl.multi_remove_handle(post->http->multi, post->easy);
  curl.easy_cleanup(post->easy);
  curl.slist_free_all(post->headers);
  free(post->waiting);
  free(post->given);
  free(post);
}
