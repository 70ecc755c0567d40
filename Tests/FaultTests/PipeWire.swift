// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A PipeWire of our own without a session manager: a sink that plays into nothing, in a runtime folder of its own.
final class PipeWire: @unchecked Sendable {
    // Sendable: a test uses it from one task at a time.

    /// Whether it is installed, with its own libjack.
    static let isInstalled = FaultTests.isInstalled("pipewire", "pw-jack", "pw-metadata")

    /// Where its socket is.
    let scratch: Scratch
    private var daemon: Program?

    init(_ scratch: Scratch) {
        self.scratch = scratch
        chmod(scratch.path, 0o700)
    }

    /// What its clients need.
    var environment: [String: String] { ["XDG_RUNTIME_DIR": scratch.path, "PIPEWIRE_RUNTIME_DIR": scratch.path] }

    /// Starts it and waits until it answers.
    func start(rate: Int = 48000, block: Int = 256) async throws {
        let file = try scratch.write("pipewire.conf", Self.configuration(rate, block))
        let started = try Program(["pipewire", "-c", file], environment: environment)
        daemon = started
        try await eventually("PipeWire answers") {
            let list = try await runTool(["pw-jack", "jack_lsp"], environment: self.environment)
            return list.output.contains("room:playback_FR")
        }
    }

    /// Sends it a signal.
    func signal(_ number: Int32) { daemon?.signal(number) }

    /// Ends it with a signal.
    func end(_ number: Int32 = SIGTERM) async throws {
        daemon?.signal(number)
        try await daemon?.end()
        daemon = nil
    }

    /// Has it work in blocks of so many frames.
    func setBlock(_ frames: Int) async throws {
        try await runTool(
            ["pw-metadata", "-n", "settings", "0", "clock.force-quantum", "\(frames)"], environment: environment)
    }

    private static func configuration(_ rate: Int, _ block: Int) -> String {
        let modules = [
            "protocol-native", "profiler", "metadata", "spa-node-factory", "client-node", "access", "adapter",
            "link-factory",
        ].map { "{ name = libpipewire-module-\($0) }" }.joined(separator: "\n")
        return """
            context.properties = {
                core.daemon = true
                core.name = pipewire-0
                default.clock.rate = \(rate)
                default.clock.quantum = \(block)
                default.clock.min-quantum = 32
                default.clock.max-quantum = 8192
                clock.power-of-two-quantum = false
            }
            context.spa-libs = {
                audio.convert.* = audioconvert/libspa-audioconvert
                support.* = support/libspa-support
            }
            context.modules = [
                \(modules)
            ]
            context.objects = [
                { factory = metadata args = { metadata.name = default } }
                { factory = spa-node-factory args = {
                    factory.name = support.node.driver node.name = Dummy-Driver
                    node.group = pipewire.dummy priority.driver = 20000 } }
                { factory = adapter args = {
                    factory.name = support.null-audio-sink node.name = room media.class = Audio/Sink
                    object.linger = true audio.position = [ FL FR ] priority.driver = 30000
                    adapter.auto-port-config = { mode = dsp monitor = true position = preserve } } }
            ]
            """
    }
}
