/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VOICEGRAPH_JACK_REPLACE_H
#define VOICEGRAPH_JACK_REPLACE_H

/* Has the library behind `handle`, and no other, call `function` where it calls
 * `name` of another library: that one's address stands in a table that the
 * linker has filled. Whether it calls it at all. [control] */
_Bool vg_replace(void *handle, const char *name, void (*function)(void));

#endif
