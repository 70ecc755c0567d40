// SPDX-License-Identifier: Apache-2.0
import CEcho
import Glibc
import NodeKit
import Synchronization

/// What takes the echo away, as the setting `engine` names it.
enum EchoEngine: String, CaseIterable {
    /// A Kalman filter of this plugin's own.
    case kalman
    /// The filter of speexdsp.
    case speex
    /// The canceller of WebRTC.
    case webrtc

    /// What `auto` stands for. It learns faster than speexdsp's, leaves more of a second talker than either, and needs no
    /// library.
    static let best = EchoEngine.kalman
}

/// The settings of the node, which are checked beyond what their kinds say.
struct EchoSettings {
    /// Settings that may be changed while it plays.
    enum Live: String {
        case delay = "delay_ms"
        case suppression
        case noise = "noise_suppression"
        case gain = "gain_control"
    }

    static let declared = [
        Setting(
            "engine", VG_SET_STRING, "what learns the echo: auto is kalman", default: "\"auto\"",
            choices: ["auto"] + EchoEngine.allCases.map(\.rawValue)),
        Setting(
            "reference_channels", VG_SET_INTEGER, "channels of what is heard; two are mixed", default: "1",
            range: 1...2),
        Setting(
            "tail_ms", VG_SET_NUMBER, "how long the echo of a click lasts, with its delay", default: "250",
            range: 20...1000, unit: "ms"),
        Setting(
            Live.delay.rawValue, VG_SET_NUMBER,
            "how much later than is known the echo comes; rather less than it is, or it cannot be taken away",
            default: "0", range: -1000...1000, unit: "ms", live: true),
        Setting(
            Live.suppression.rawValue, VG_SET_VALUE,
            "dB by which what the filter leaves of the echo is lowered at most; false: not at all", default: "40",
            live: true),
        Setting(
            Live.noise.rawValue, VG_SET_VALUE, "dB by which steady noise is lowered; false: not at all",
            default: "false", live: true),
        Setting(
            Live.gain.rawValue, VG_SET_VALUE,
            "dBFS (root mean square) that speech is brought to; false: it stays as it is",
            default: "false", live: true),
    ]

    let engine: EchoEngine
    let channels: Int
    /// Seconds.
    let tail: Double
    /// Milliseconds.
    var delay: Double
    var tuning: vg_echo_tuning

    init(_ settings: Settings) throws(NodeError) {
        let name = settings.string("engine") ?? "auto"
        guard let engine = name == "auto" ? .best : EchoEngine(rawValue: name) else {
            let names = EchoEngine.allCases.map(\.rawValue).joined(separator: ", ")
            throw NodeError("there is no engine \"\(name)\"", hint: "use auto, \(names)", key: "engine")
        }
        self.engine = engine
        channels = Int(try Self.number(settings, "reference_channels", 1...2, 1))
        tail = try Self.number(settings, "tail_ms", 20...1000, 250) / 1000
        delay = try Self.number(settings, Live.delay.rawValue, -1000...1000, 0)
        tuning = vg_echo_tuning(suppression: Self.linear(-40), noise: 1, target: 0)
        for key in [Live.suppression, .noise, .gain] {
            if let value = settings.values[key.rawValue] { try change(key.rawValue, to: value) }
        }
    }

    /// Changes a live setting.
    mutating func change(_ key: String, to value: SettingValue) throws(NodeError) {
        guard let key = Live(rawValue: key) else { return }
        switch key {
        case .delay: delay = try Self.number(Settings([key.rawValue: value]), key.rawValue, -1000...1000, 0)
        case .suppression:
            tuning.suppression = try Self.number(value, key, 1...80, "dB").map { Self.linear(-$0) } ?? 1
        case .noise: tuning.noise = try Self.number(value, key, 1...40, "dB").map { Self.linear(-$0) } ?? 1
        case .gain: tuning.target = try Self.number(value, key, -50 ... -6, "dBFS").map { Self.linear($0) } ?? 0
        }
    }

    /// A number in a range, which the host has checked if it is one that checks.
    private static func number(
        _ settings: Settings, _ key: String, _ range: ClosedRange<Double>, _ usual: Double
    ) throws(NodeError) -> Double {
        let number = settings.number(key) ?? usual
        if range.contains(number) { return number }
        let (low, high) = (Int(range.lowerBound), Int(range.upperBound))
        throw NodeError("\(key) must be from \(low) to \(high)", key: key)
    }

    /// A number in a range, or nil for false.
    private static func number(
        _ value: SettingValue, _ key: Live, _ range: ClosedRange<Double>, _ unit: String
    ) throws(NodeError) -> Double? {
        if value == .bool(false) { return nil }
        if let number = Settings(["": value]).number(""), range.contains(number) { return number }
        let (low, high) = (Int(range.lowerBound), Int(range.upperBound))
        throw NodeError(
            "\(key.rawValue) must be false or a number of \(unit)", hint: "\(low) to \(high)", key: key.rawValue)
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
