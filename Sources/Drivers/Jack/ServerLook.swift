// SPDX-License-Identifier: Apache-2.0
import CJack

/// What a client sees of a server, at one time.
package struct ServerLook: Sendable, Equatable {
    /// A port at the server, of whatever program.
    package struct Port: Sendable, Equatable {
        /// Its full name.
        package var name: String
        /// What the connections of a file may call it as well, where the server is not jackd: "system:playback_1"; else
        /// empty.
        package var alias: String
        /// Whether something goes in there.
        package var isInput: Bool
        /// MIDI, else audio.
        package var isMIDI: Bool
        /// Whether it stands for hardware.
        package var isPhysical: Bool
        /// The full names of the ports that it is connected to.
        package var connections: [String]

        /// Describes a port.
        package init(
            name: String, alias: String = "", isInput: Bool, isMIDI: Bool = false, isPhysical: Bool = false,
            connections: [String] = []
        ) {
            self.name = name
            self.alias = alias
            self.isInput = isInput
            self.isMIDI = isMIDI
            self.isPhysical = isPhysical
            self.connections = connections
        }

        /// Whether an entry of a node's `connect` means it. [any]
        package func matches(_ glob: String) -> Bool {
            JackConnections.matches(name, glob: glob) || !alias.isEmpty && JackConnections.matches(alias, glob: glob)
        }
    }

    /// Hz.
    package var rate: Double
    /// Frames of a block.
    package var block: Int
    /// Whether the server says that it is realtime.
    package var isRealtime: Bool
    /// In the server's order.
    package var ports: [Port]

    /// Describes a server.
    package init(rate: Double, block: Int, isRealtime: Bool, ports: [Port]) {
        self.rate = rate
        self.block = block
        self.isRealtime = isRealtime
        self.ports = ports
    }

    /// Opens a client, looks and closes it. It waits for as long as the server hangs: for processes that can be ended.
    /// [control]
    package init(server: String?, library: JackLibrary.Provider) throws(DriverError) {
        let client: OpaquePointer
        do throws(JackLibrary.OpenError) {
            client = try JackLibrary.open(name: "vg-doctor", server: server, library: library)
        } catch { throw error.asDriverError(server: server, library) }
        defer { JackLibrary.close(client) }
        self.init(
            rate: Double(jack_get_sample_rate(client)), block: Int(jack_get_buffer_size(client)),
            isRealtime: jack_is_realtime(client) != 0, ports: Self.ports(client))
    }

    private static func ports(_ client: OpaquePointer) -> [Port] {
        var ports: [Port] = []
        for (type, isMIDI) in [(JACK_DEFAULT_AUDIO_TYPE, false), (JACK_DEFAULT_MIDI_TYPE, true)] {
            for (flag, isInput) in [(JackPortIsInput, true), (JackPortIsOutput, false)] {
                func list(_ flags: UInt32) -> [String] {
                    JackNames.take(jack_get_ports(client, nil, type, UInt(flags)))
                }
                let physical = list(flag.rawValue | JackPortIsPhysical.rawValue)
                for name in list(flag.rawValue) {
                    let port = jack_port_by_name(client, name)
                    let number = physical.firstIndex(of: name)
                    let kind = (isMIDI ? "midi_" : "") + (isInput ? "playback" : "capture")
                    ports.append(
                        Port(
                            name: name, alias: number.map { "system:\(kind)_\($0 + 1)" } ?? "", isInput: isInput,
                            isMIDI: isMIDI, isPhysical: number != nil,
                            connections: port.map { JackNames.take(jack_port_get_all_connections(client, $0)) } ?? []))
                }
            }
        }
        guard ports.contains(where: { $0.name.hasPrefix("system:") }) else { return ports }
        // jackd's names are these already.
        return ports.map { port in
            var port = port
            port.alias = ""
            return port
        }
    }
}
