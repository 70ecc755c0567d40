// SPDX-License-Identifier: Apache-2.0
import CJack
import System

/// What a driver knows of other programs, now and before.
struct KnownPrograms {
    private var now = OtherPrograms(exist: false, precede: false)
    private var before = OtherPrograms(exist: false, precede: false)
    private var changed = -Double.infinity

    /// Seconds for which what has gone still counts: whoever asks wants to know of a moment ago.
    private static let memory = 1.0

    /// What there is, or was a moment ago. [any]
    var lately: OtherPrograms {
        guard monotonicSeconds() - changed < Self.memory else { return now }
        return OtherPrograms(exist: now.exist || before.exist, precede: now.precede || before.precede)
    }

    /// From now on it is so. [any]
    mutating func set(_ found: OtherPrograms) {
        guard found != now else { return }
        (before, now, changed) = (lately, found, monotonicSeconds())
    }
}

extension JackDriver {
    /// Looks which programs there are besides this one, and whether it hears one of them. [control, with `lock`]
    func lookForPrograms() {
        guard let client else { return }
        set(
            precede: ports.entries.contains { entry in
                guard entry.port.isCapture, let port = ports.jackPort(entry.slot) else { return false }
                return JackNames.take(jack_port_get_all_connections(client, port)).contains(where: isProgram)
            })
    }

    /// The same by the connections that were just made: whoever looks at them now waits until they are in force, a block
    /// and more. [control, with `lock`]
    func assumePrograms(_ made: [(from: String, to: String)]) { set(precede: made.contains { isProgram($0.from) }) }

    private func set(precede: Bool) {
        // PipeWire serves programs that do not speak JACK, too.
        let exist =
            precede || JackLibrary.isPipeWire
            || client.map { JackNames.take(jack_get_ports($0, nil, nil, 0)).contains(where: isProgram) } ?? false
        programs.withLock { $0.set(OtherPrograms(exist: exist, precede: precede)) }
    }

    /// Whether a port, by its full name, is another program's. What stands for hardware is no program.
    private func isProgram(_ name: String) -> Bool {
        guard let client, !name.hasPrefix(String(cString: jack_get_client_name(client)) + ":"),
            let port = jack_port_by_name(client, name)
        else { return false }
        return UInt32(bitPattern: jack_port_flags(port)) & JackPortIsPhysical.rawValue == 0
    }
}

/// Lists of names as libjack gives them.
enum JackNames {
    /// What else a port is called. [control]
    static func aliases(_ client: OpaquePointer, _ name: String) -> [String] {
        guard let port = jack_port_by_name(client, name) else { return [] }
        // As long as a port's full name can be, of whatever server.
        let size = max(Int(jack_port_name_size()), 512)
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: 2 * size)
        memory.initialize(repeating: 0, count: 2 * size)
        defer { memory.deallocate() }
        var places: [UnsafeMutablePointer<CChar>?] = [memory, memory + size]
        let count = jack_port_get_aliases(port, &places)
        return (0..<max(0, min(2, Int(count)))).map { String(cString: memory + $0 * size) }
    }

    /// The names in a list, which is freed; none of nil. [control]
    static func take(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard let list else { return [] }
        defer { jack_free(list) }
        var result: [String] = []
        var next = list
        while let name = next.pointee {
            result.append(String(cString: name))
            next += 1
        }
        return result
    }
}
