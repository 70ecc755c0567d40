/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VOICEGRAPH_JACK_PROPERTIES_H
#define VOICEGRAPH_JACK_PROPERTIES_H

/* Keeps the library behind `handle` from the database of properties, before it
 * has a client. Whether it would have opened it: PipeWire's has none. [control] */
_Bool vg_jack_refuse_properties(void *handle);

#endif
