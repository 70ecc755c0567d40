/* SPDX-License-Identifier: Apache-2.0 */
/* jackd's libjack opens the database of properties, which all servers and
 * clients of a user share, with its first client, and closes it with its last.
 * A process that was killed while it held a lock of that database holds it for
 * ever: whoever opens or closes a client then waits for ever, inside of a lock
 * of libjack's own, and no other client can be opened in that process
 * (jackd 1.9.21, Berkeley DB 5.3). libjack does without the database where it
 * cannot be opened. So the one function by which it begins to open it is
 * replaced. */
#include "properties.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "replace.h"

static int refuse(void **environment, uint32_t flags) {
  (void)flags;
  *environment = NULL;
  return ENOSYS;
}

_Bool vg_jack_refuse_properties(void *handle) {
  return vg_replace(handle, "db_env_create", (void (*)(void))refuse);
}
