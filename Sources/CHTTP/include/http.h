/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP and TLS by libcurl, which Swift loads at run time: asks an address and hands out what comes back, piece by piece, as the
 * caller asks for it. Nothing happens between two calls, and what is not taken is not read: a server that sends faster than
 * it is listened to has to wait. All calls on a client and its transfers come from one thread at a time, no audio thread. */
#ifndef VG_HTTP_H
#define VG_HTTP_H

#include <stddef.h>

enum { VG_HTTP_ERROR = 512 };

/* Keeps connections for the next transfer. */
typedef struct vg_http vg_http;
/* A request and its answer. */
typedef struct vg_transfer vg_transfer;

/* What happens to a transfer: sent, status, data any number of times, end. */
typedef enum vg_transfer_kind {
  VG_TRANSFER_NOTHING = 0, /* not yet */
  VG_TRANSFER_SENT = 1,    /* it is connected, and takes the request */
  VG_TRANSFER_STATUS = 2,  /* `number` is the status, `text` the header Retry-After, or empty */
  VG_TRANSFER_DATA = 3,    /* `length` bytes at `text` */
  VG_TRANSFER_END = 4,     /* `number` 0: the answer is complete; otherwise `text` says why it is not */
} vg_transfer_kind;

typedef struct vg_transfer_event {
  vg_transfer_kind kind;
  long number;
  const char *_Nonnull text; /* until the next call */
  size_t length;
} vg_transfer_event;

/* Where libcurl, which is loaded, has the function of a name; NULL: nowhere. */
typedef void *_Nullable (*vg_http_find)(const char *_Nonnull name);

/* Asks for libcurl's functions, the first time. NULL: it is not what it should be, and `error`, VG_HTTP_ERROR bytes, says
 * why. */
vg_http *_Nullable vg_http_open(vg_http_find _Nonnull find, char *_Nonnull error);

/* Closes its connections, when no transfer is left. */
void vg_http_close(vg_http *_Nonnull http);

/* Begins to post `body`, or without one to get; `headers` are lines like "Accept: text/plain", with NULL at the end.
 * Redirections are not followed. NULL: that is no address, or there is no memory. */
vg_transfer *_Nullable vg_http_begin(vg_http *_Nonnull http, const char *_Nonnull url,
                                     const char *_Nullable const *_Nonnull headers, const void *_Nullable body,
                                     size_t length);

/* What happens next; waits for that, but no longer than so many milliseconds. */
vg_transfer_event vg_transfer_next(vg_transfer *_Nonnull transfer, int milliseconds);

/* Where the answer says that it is to be asked instead, as a whole address; empty: nowhere. Until the transfer is ended. */
const char *_Nonnull vg_transfer_redirection(vg_transfer *_Nonnull transfer);

/* Ends a transfer, at whatever point it is. */
void vg_transfer_end(vg_transfer *_Nonnull transfer);

#endif
