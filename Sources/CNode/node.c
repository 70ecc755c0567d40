// SPDX-License-Identifier: Apache-2.0
#include "voicegraph/audio.h"
