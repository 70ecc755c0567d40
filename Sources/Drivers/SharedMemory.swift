// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The folder in which JACK's servers and clients share memory.
package enum SharedMemory {
    /// Where it is.
    package static let folder = "/dev/shm"
    /// What a server of our own and its clients take of it, in bytes: a process that touches what there is no room for ends.
    package static let needed = 56 << 20

    /// Why no server can start with it; nil: nothing is wrong, as far as can be seen. [control]
    package static func fault(_ folder: String = folder) -> Fault? {
        var space = statvfs()
        guard statvfs(folder, &space) == 0 else {
            return Fault("there is no \(folder), which every JACK server needs", hint: "mount -t tmpfs tmpfs \(folder)")
        }
        if access(folder, W_OK) != 0 {
            return Fault(
                "\(folder), which every JACK server needs, cannot be written: \(String(cString: strerror(errno)))",
                hint: "chmod 1777 \(folder)")
        }
        let free = Int(clamping: space.f_bavail) * Int(clamping: space.f_frsize)
        guard free < needed else { return nil }
        return Fault(
            "only \(free >> 20) MB are free in \(folder), of which a JACK server needs \(needed >> 20)",
            hint: "remove what is left there of programs that ended, or mount -o remount,size=256M \(folder) (of a "
                + "container: --shm-size=256m)")
    }

    /// Whether the list of servers is there, but is not libjack's (its first word is JACK's mark, 0x4a41434b). [control]
    static func hasForeignRegistry(_ path: String = ServerNames.registry) -> Bool {
        guard let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        var mark: UInt32 = 0
        return fread(&mark, MemoryLayout.size(ofValue: mark), 1, file) == 1 && mark != 0x4a41_434b
    }
}
