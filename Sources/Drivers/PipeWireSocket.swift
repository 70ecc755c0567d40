// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where PipeWire's clients find it.
package enum PipeWireSocket {
    /// What it is called without a path: $PIPEWIRE_REMOTE, else "pipewire-0". [control]
    package static var name: String { variable("PIPEWIRE_REMOTE") ?? "pipewire-0" }

    /// The socket called `wanted`, or the usual one, if it is there. Nobody may listen at it all the same. [control]
    package static func path(_ wanted: String? = nil) -> String? {
        // Newer ones allow a list: "[one,two]".
        let names = (wanted ?? name).split(whereSeparator: { "[], ".contains($0) }).map(String.init)
        let folders =
            ["PIPEWIRE_RUNTIME_DIR", "XDG_RUNTIME_DIR", "USERPROFILE"].compactMap(variable)
            + ["/run/pipewire"]
        let places = names.flatMap { name in name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" } }
        return places.first { access($0, R_OK | W_OK) == 0 }
    }

    /// Whether somebody listens at it. [control]
    static func answers(_ wanted: String? = nil) -> Bool {
        guard let path = path(wanted) else { return false }
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard client >= 0 else { return false }
        defer { close(client) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
