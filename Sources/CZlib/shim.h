/* SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

/* deflateInit2 is a macro, which Swift does not see: gzip with the best compression. */
static inline int vg_gzip_begin(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
