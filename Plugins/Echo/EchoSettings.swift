// SPDX-License-Identifier: Apache-2.0
import CEcho
import Glibc
import NodeKit
import Synchronization

/// What takes the echo away, as the setting `engine` names it.
enum EchoEngine: String, CaseIterable {
    /// The best of them. It learns faster than speexdsp's, leaves more of a second talker than either, and needs no
    /// library: kalman.
    case auto
    /// A Kalman filter of this plugin's own.
    case kalman
    /// The filter of speexdsp.
    case speex
    /// The canceller of WebRTC.
    case webrtc
}

/// The settings of the node, which are checked beyond what their kinds say.
struct EchoSettings {
    static let engine = Key.choice("engine", "what learns the echo: auto is kalman", default: EchoEngine.auto)
    static let tail = Key.number(
        "tail_ms", "how long the echo of a click lasts, with its delay", default: 250, in: 20...1000, unit: "ms")
    private static let channels = Key.integer(
        "reference_channels", "channels of what is heard; two are mixed", default: 1, in: 1...2)
    private static let delay = Key.number(
        "delay_ms", "how much later than is known the echo comes; rather less than it is, or it cannot be taken away",
        default: 0, in: -1000...1000, unit: "ms", live: true)
    private static let suppression = Key.value(
        "suppression", "dB by which what the filter leaves of the echo is lowered at most; false: not at all",
        default: .integer(40), live: true)
    private static let noise = Key.value(
        "noise_suppression", "dB by which steady noise is lowered; false: not at all", default: .bool(false),
        live: true)
    private static let gain = Key.value(
        "gain_control", "dBFS (root mean square) that speech is brought to; false: it stays as it is",
        default: .bool(false), live: true)

    static let declared: [any SettingDeclaration] = [engine, channels, tail, delay, suppression, noise, gain]

    /// Never `auto`.
    let engine: EchoEngine
    let channels: Int
    /// Seconds.
    let tail: Double
    /// Milliseconds.
    var delay: Double
    var tuning = vg_echo_tuning()

    init(_ settings: Settings) throws(NodeError) {
        let wanted = try settings[Self.engine]
        engine = wanted == .auto ? .kalman : wanted
        channels = try settings[Self.channels]
        tail = try settings[Self.tail] / 1000
        delay = try settings[Self.delay]
        for key in [Self.suppression, Self.noise, Self.gain] {
            if let value = try settings[key] { try change(key.name, to: value) }
        }
    }

    /// Changes a live setting.
    mutating func change(_ setting: String, to value: SettingValue) throws(NodeError) {
        switch setting {
        case Self.delay.name: delay = try Self.delay.value(of: value)
        case Self.suppression.name:
            tuning.suppression = try Self.number(value, Self.suppression, 1...80, "dB").map { Self.linear(-$0) } ?? 1
        case Self.noise.name:
            tuning.noise = try Self.number(value, Self.noise, 1...40, "dB").map { Self.linear(-$0) } ?? 1
        case Self.gain.name:
            tuning.target = try Self.number(value, Self.gain, -50 ... -6, "dBFS").map { Self.linear($0) } ?? 0
        default: break
        }
    }

    /// A number in a range, or nil for false.
    private static func number(
        _ value: SettingValue, _ key: Key<SettingValue?>, _ range: ClosedRange<Double>, _ unit: String
    ) throws(NodeError) -> Double? {
        if value == .bool(false) { return nil }
        if let number = Settings([key.name: value]).number(key.name), range.contains(number) { return number }
        let (low, high) = (Int(range.lowerBound), Int(range.upperBound))
        throw NodeError(
            "\(key.name) must be false or a number of \(unit)", hint: "\(low) to \(high)", key: key.name)
    }

    private static func linear(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }
}

/// What the control half may change while the processor runs.
struct EchoControls: ~Copyable {
    /// Frames that the reference waits.
    let delay = Atomic<Int>(0)
    /// The bits of floats.
    let suppression = Atomic<UInt32>(0)
    let noise = Atomic<UInt32>(0)
    let target = Atomic<UInt32>(0)

    func set(_ tuning: vg_echo_tuning) {
        suppression.store(tuning.suppression.bitPattern, ordering: .relaxed)
        noise.store(tuning.noise.bitPattern, ordering: .relaxed)
        target.store(tuning.target.bitPattern, ordering: .relaxed)
    }

    var tuning: vg_echo_tuning {
        @_noLocks get {
            vg_echo_tuning(
                suppression: Float(bitPattern: suppression.load(ordering: .relaxed)),
                noise: Float(bitPattern: noise.load(ordering: .relaxed)),
                target: Float(bitPattern: target.load(ordering: .relaxed)))
        }
    }
}
