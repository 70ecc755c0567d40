/* SPDX-License-Identifier: Apache-2.0
 *
 * How a program of ours ends that crashes. */
#ifndef VOICEGRAPH_CRASH_H
#define VOICEGRAPH_CRASH_H

/* Lets a crash end the process at once, by its signal and with a line on standard
 * error. Without this Swift's runtime stops all threads and looks for their stacks,
 * which keeps a process with realtime threads for minutes, and whoever would start
 * it again waits. Whoever sets SWIFT_BACKTRACE in the environment keeps that. Call
 * it first of all. [main] */
void vg_crash_quickly(void);

#endif
