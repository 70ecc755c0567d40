/* SPDX-License-Identifier: Apache-2.0 */
#include <ogg/ogg.h>
#include <vorbis/codec.h>
#include <vorbis/vorbisenc.h>
