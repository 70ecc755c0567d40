/* SPDX-License-Identifier: Apache-2.0 */
/* The entry function refuses. */
#include "common.h"

EXPORT(NULL)
