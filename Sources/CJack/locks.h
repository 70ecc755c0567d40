/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VOICEGRAPH_JACK_LOCKS_H
#define VOICEGRAPH_JACK_LOCKS_H

/* Has no thread of the library behind `handle` ended while it has a lock of the
 * library's own. Whether it has locks. [control] */
_Bool vg_jack_keep_locks(void *handle);

#endif
