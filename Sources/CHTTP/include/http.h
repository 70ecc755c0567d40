/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP and TLS by libcurl, which Swift loads at run time: posts to an address and hands out what comes back, piece by piece, as the
 * caller asks for it. Nothing happens between two calls, and what is not taken is not read: a server that sends faster than
 * it is listened to has to wait. All calls on a client and its posts come from one thread at a time, no audio thread. */
#ifndef VG_HTTP_H
#define VG_HTTP_H

#include <stddef.h>

enum { VG_HTTP_ERROR = 512 };

/* Keeps connections for the next post. */
typedef struct vg_http vg_http;
/* A request and its answer. */
typedef struct vg_post vg_post;

/* What happens to a post: sent, status, data any number of times, end. */
typedef enum vg_post_kind {
  VG_POST_NOTHING = 0, /* not yet */
  VG_POST_SENT = 1,    /* it is connected, and takes the request */
  VG_POST_STATUS = 2,  /* `number` is the status, `text` the header Retry-After, or empty */
  VG_POST_DATA = 3,    /* `length` bytes at `text` */
  VG_POST_END = 4,     /* `number` 0: the answer is complete; otherwise `text` says why it is not */
} vg_post_kind;

typedef struct vg_post_event {
  vg_post_kind kind;
  long number;
  const char *_Nonnull text; /* until the next call */
  size_t length;
} vg_post_event;

/* Where libcurl, which is loaded, has the function of a name; NULL: nowhere. */
typedef void *_Nullable (*vg_http_find)(const char *_Nonnull name);

/* Asks for libcurl's functions, the first time. NULL: it is not what it should be, and `error`, VG_HTTP_ERROR bytes, says
 * why. */
vg_http *_Nullable vg_http_open(vg_http_find _Nonnull find, char *_Nonnull error);

/* Closes its connections, when no post is left. */
void vg_http_close(vg_http *_Nonnull http);

/* Begins; `headers` are lines like "Accept: text/plain", with NULL at the end. Redirections are not followed. NULL: that is
 * no address, or there is no memory. */
vg_post *_Nullable vg_http_post(vg_http *_Nonnull http, const char *_Nonnull url,
                                const char *_Nullable const *_Nonnull headers, const void *_Nonnull body, size_t length);

/* What happens next; waits for that, but no longer than so many milliseconds. */
vg_post_event vg_post_next(vg_post *_Nonnull post, int milliseconds);

/* Where the answer says that it is to be asked instead, as a whole address; empty: nowhere. Until the post is ended. */
const char *_Nonnull vg_post_redirection(vg_post *_Nonnull post);

/* Ends a post, at whatever point it is. */
void vg_post_end(vg_post *_Nonnull post);

#endif
