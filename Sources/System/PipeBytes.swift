// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What has come through a pipe that does not wait; nil: nothing more does, and this end is closed. [any]
public func takeBytes(from descriptor: inout Int32) -> [UInt8]? {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, used in
        count = read(descriptor, buffer.baseAddress, buffer.count)
        used = max(0, count)
    }
    if count > 0 { return bytes }
    if count < 0, errno == EINTR || errno == EAGAIN { return [] }
    close(descriptor)
    descriptor = -1
    return nil
}
