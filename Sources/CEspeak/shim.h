/* SPDX-License-Identifier: Apache-2.0 */
/* Types and constants only: the library is loaded at run time. */
#include <espeak-ng/speak_lib.h>
