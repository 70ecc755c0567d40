/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of speexdsp: only the library's adaptive filter, which takes no locks and no memory while it works. */
#ifndef VG_SPEEX_FILTER_H
#define VG_SPEEX_FILTER_H

#include "include/echo.h"

typedef struct vg_speex_filter vg_speex_filter;
vg_speex_filter *vg_speex_filter_create(const vg_speex *library, int frame, int tail, double rate);
void vg_speex_filter_destroy(vg_speex_filter *filter);
/* What of `heard` is no echo. [audio] */
void vg_speex_filter_process(vg_speex_filter *filter, const float *heard, const float *played, float *rest);
/* Knows nothing any more. [audio] */
void vg_speex_filter_forget(vg_speex_filter *filter);

#endif
