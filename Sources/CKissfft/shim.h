/* SPDX-License-Identifier: Apache-2.0 */
#include <kissfft/kiss_fftr.h>
