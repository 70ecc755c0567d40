/* SPDX-License-Identifier: Apache-2.0 */
#include <ebur128.h>
