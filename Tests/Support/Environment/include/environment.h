// SPDX-License-Identifier: Apache-2.0
//
// What the tests begin in. Nothing of it has to be called: it is done when the bundle of tests is loaded.

#ifndef VOICEGRAPH_TEST_ENVIRONMENT_H
#define VOICEGRAPH_TEST_ENVIRONMENT_H

/// The variable that names the folder for data of whoever runs the tests, where models may be installed.
#define VG_TEST_USER_DATA "VOICEGRAPH_TEST_USER_DATA"

/// A place on the stack of the calling thread; where a sanitizer watches, its variables lie elsewhere.
void *vg_stack_place(void);

/// munlockall(2), which a sanitizer's own does nothing for.
void vg_unlock_memory(void);

#endif
