/* SPDX-License-Identifier: Apache-2.0 */
#include <kiss_fftr.h>
