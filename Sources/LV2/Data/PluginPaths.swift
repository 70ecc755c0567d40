// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import Synchronization
import System

/// What a plugin asks for when it deals with files outside of saving and restoring, for which lilv has its own: paths
/// are what they are, and new files go to a folder that lives as long as the plugin.
final class PluginPaths {
    let map = UnsafeMutablePointer<LV2_State_Map_Path>.allocate(capacity: 1)
    let make = UnsafeMutablePointer<LV2_State_Make_Path>.allocate(capacity: 1)
    let free = UnsafeMutablePointer<LV2_State_Free_Path>.allocate(capacity: 1)

    private let name: String
    private let made = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)

    init() {
        name = scratchFolder() + "/voicegraph-lv2-\(getpid())-\(counter.add(1, ordering: .relaxed).newValue)"
        made.initialize(to: Atomic(false))
        let copy: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? = {
            _, path in path.flatMap { strdup($0) }
        }
        map.initialize(to: LV2_State_Map_Path(handle: nil, abstract_path: copy, absolute_path: copy))
        free.initialize(to: LV2_State_Free_Path(handle: nil, free_path: { _, path in Glibc.free(path) }))
        make.initialize(to: LV2_State_Make_Path(handle: nil, path: { _, _ in nil }))
        make.pointee.handle = Unmanaged.passUnretained(self).toOpaque()
        make.pointee.path = { handle, path in
            guard let handle, let path else { return nil }
            return Unmanaged<PluginPaths>.fromOpaque(handle)._withUnsafeGuaranteedRef {
                $0.path(String(cString: path)).flatMap { strdup($0) }
            }
        }
    }

    deinit {
        if let folder { removeFolder(folder) }
        made.deallocate()
        map.deallocate()
        make.deallocate()
        free.deallocate()
    }

    /// The folder; nil: the plugin made no file.
    var folder: String? { made.pointee.load(ordering: .acquiring) ? name : nil }

    /// Makes the folders for a new file. Nil: the plugin wants to leave its own, or there is no room. [any]
    private func path(_ relative: String) -> String? {
        let parts = relative.split(separator: "/")
        guard !parts.isEmpty, !parts.contains(".."), !relative.hasPrefix("/") else { return nil }
        made.pointee.store(true, ordering: .releasing)
        var path = name
        for part in parts {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return nil }
            path += "/" + part
        }
        return path
    }
}

private let counter = Atomic(0)

/// Where files may lie that nobody keeps.
package func scratchFolder() -> String {
    if let path = getenv("TMPDIR"), access(path, W_OK) == 0 { return String(cString: path) }
    return "/tmp"
}
