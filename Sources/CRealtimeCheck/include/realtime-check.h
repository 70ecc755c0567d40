/* SPDX-License-Identifier: Apache-2.0
 *
 * libvoicegraph-realtime.so is loaded into a program before everything else
 * (LD_PRELOAD). Between vg_realtime_enter and vg_realtime_exit (realtime.h) it
 * sees what could block: memory, locks, waiting, files, threads.
 *
 * By default the first of it ends the program by SIGABRT, with a line on
 * standard error. With VOICEGRAPH_REALTIME=collect it goes on, and tells what it
 * saw when it is asked. */
#ifndef VOICEGRAPH_REALTIME_CHECK_H
#define VOICEGRAPH_REALTIME_CHECK_H

/* How many different things it saw; the same function called from the same place
 * counts once. [any] */
int vg_realtime_seen_count(void);
/* What it saw as number `index`: "malloc, called by process in libvg-sparkle.so".
 * Valid until the next call. [control] */
const char *vg_realtime_seen(int index);

#endif
