// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

extension RecordingMode {
    /// What is done, as a part of a graph: `Input("mic") => RecordingMode.voiceChat.processing() => Record(...)`.
    public func processing(
        channels: Int = 1, file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Chain {
        steps.map { step in
            AnyNode(
                step.name, type: step.type,
                step.settings.merging(["channels": .integer(Int64(channels))]) { given, _ in given }, file: file,
                line: line, column: column)
        }.reduce(Chain()) { $0 => $1 }
    }
}

extension Graph {
    /// A microphone, what the mode does, the meter "level" and the recorder "take", which waits to be started and publishes what
    /// it records: what a `RecorderModel` follows. `from`: ports to connect to. Throws where the mode cannot be kept in such a
    /// file.
    ///
    ///     try await host.load(.recording("memo.flac", mode: .spokenAudio))
    ///     try await host.run()
    ///     let audio = try await RecorderModel(host).start()
    public static func recording(
        _ path: String, mode: RecordingMode = .default, channels: Int = 1, from: [String] = ["system:capture_*"],
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) throws(Fault) -> Graph {
        if let fault = mode.fault(in: path) { throw Fault("the mode \(mode) \(fault)") }
        return Graph("record") {
            Input("mic", channels: channels, connect: from, inFile: file, atLine: line, atColumn: column)
                => mode.processing(channels: channels, file: file, line: line, column: column)
                => Meter("level", channels: channels, inFile: file, atLine: line, atColumn: column)
                => Record(
                    "take", path: path, channels: channels, autostart: false, publish: true, inFile: file,
                    atLine: line, atColumn: column)
        }
    }
}
