/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary library, not a plugin. */
#include "common.h"

int something_else(void);
int something_else(void) { return 42; }
