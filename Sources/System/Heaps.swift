// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// Two heaps for all threads of this process. By itself the C library makes eight a processor: each grows to what the largest
/// edit needs, and little of that is given back. Nothing here asks for memory so often that threads would wait for each
/// other. Whoever sets `MALLOC_ARENA_MAX` means another number. Call it before there are other threads. [control]
public func shareHeaps() {
    if getenv("MALLOC_ARENA_MAX") == nil { vg_limit_heaps(2) }
}
