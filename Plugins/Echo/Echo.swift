// SPDX-License-Identifier: Apache-2.0
import CEcho
import Glibc
import NodeKit

/// Takes out of a microphone what it hears of the loudspeakers.
final class Echo: AudioNode {
    static let calls: NodeCalls = [.poll, .latency, .wait, .settings]
    static let descriptor = NodeDescriptor(
        "echo", "takes out of a microphone what it hears of the loudspeakers",
        doc: """
            Link the microphone to `in`, and to `reference` what goes to the loudspeakers: the same signal, not what comes \
            back. The way from one to the other is learnt while something sounds, within a second or two, and again \
            when it changes. Somebody who speaks at the same time stays. While nothing sounds, the microphone passes. \
            The reference waits as long as the device says that sound takes to the loudspeaker; the rest of the delay, and the \
            room, have to be shorter than `tail_ms`.
            """,
        ports: layout(channels: 1).ports, settings: EchoSettings.declared, events: EchoEvent.types,
        series: [
            Series(
                "erle", "how much quieter the microphone became, while the reference sounds", unit: "dB", rate: 10,
                width: 1)
        ],
        flags: VG_IN_PLACE, process: { Echo.process($0, $1, $2) })

    let layout: Layout
    private let host: NodeHost
    private let speex: vg_speex?
    private let controls = Shared(EchoControls())
    private var settings: EchoSettings
    /// The canceller: on the audio thread, or on one of its own.
    private var audio: EchoAudio?
    private var worker: EchoWorker?
    private var rate = 48000.0
    private var isOffline = false
    private var told: EchoEvent.State?
    /// Reports since one in which the microphone was overdriven; nil: none was.
    private var sinceClipping: Int?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        self.settings = try EchoSettings(settings)
        layout = Self.layout(channels: self.settings.channels)
        if self.settings.engine == .webrtc { try EchoWorker.maker() }
        speex = self.settings.engine == .speex ? try vg_speex.load() : nil
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> EchoProcessor {
        rate = preparation.rate
        isOffline = preparation.offline
        controls.value.set(settings.tuning)
        align()
        (audio, worker) = (nil, nil)
        if settings.engine == .webrtc {
            let worker = try EchoWorker(preparation, settings: settings, controls: controls)
            self.worker = worker
            return .elsewhere(worker.frames.processor)
        }
        let audio = try EchoAudio(rate: rate, settings: settings, speex: speex, controls: controls)
        self.audio = audio
        return .here(audio.state.array)
    }

    func activate() {
        told = nil
        tell(.idle, at: nil)
        // Offline it works where it is waited for.
        if isOffline { return }
        do throws(NodeError) { try worker?.frames.start() } catch { host.health(.failed(error.message)) }
    }

    func deactivate() { worker?.frames.end() }

    func wait(frames: Int) { if isOffline { worker?.frames.work() } }

    var latency: Int { audio?.latency ?? worker?.frames.latency ?? 0 }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        try settings.change(setting, to: value)
        controls.value.set(settings.tuning)
        align()
    }

    func poll() {
        align()
        if let worker { lose(worker.frames.takeLost()) }
        while let report = audio?.reports.reader.pop() ?? worker?.reports.reader.pop() { take(report) }
    }

    /// Lets the reference wait until it is heard, as far as is known.
    private func align() {
        let wanted = host.outputLatency + Int(floor(settings.delay * rate / 1000 + 0.5))
        let most = Int(EchoAudio.longestDelay * rate)
        controls.value.delay.store(max(0, min(wanted, most)), ordering: .relaxed)
    }

    private func lose(_ frames: Int) {
        guard frames > 0 else { return }
        host.count("dropped", frames)
        host.log(VG_LOG_WARNING, "\(frames) frames were lost: the processor is busy with something else")
    }

    private func take(_ report: EchoReport) {
        host.count("not a number", report.broken)
        if report.farFrames > 0, report.heard > 0 {
            let decibels = 10 * log10(report.heard / max(report.given, 1e-12))
            host.publish([[decibels]], at: report.position)
        }
        if report.hasChanged { host.publish(EchoEvent.changed, at: report.position) }
        tell(report.farFrames == 0 ? .idle : report.isLearnt ? .cancelling : .learning, at: report.position)
        judge(report)
    }

    private func tell(_ state: EchoEvent.State, at position: UInt64?) {
        if told == state { return }
        told = state
        host.publish(
            EchoEvent.state,
            [("state", .string(state.rawValue)), ("engine", .string(settings.engine.rawValue))], at: position)
    }

    /// A microphone that is overdriven gives an echo that no filter knows: one sample in a thousand is too many.
    private func judge(_ report: EchoReport) {
        let isOverdriven = report.clipped * 100_000 > report.frames * Int(rate)
        if isOverdriven {
            if sinceClipping == nil {
                host.health(.degraded("the microphone is overdriven, so that its echo stays: turn it down"))
            }
            sinceClipping = 0
        } else if let since = sinceClipping {
            sinceClipping = since + 1
            if since + 1 >= 50 {
                sinceClipping = nil
                host.health(.ok)
            }
        }
    }

    private static func layout(channels: Int) -> Layout {
        let what = "what goes to the loudspeakers"
        let reference = (0..<channels).map {
            Port(
                VG_AUDIO_PORT, VG_INPUT, channels == 1 ? "reference" : "reference_\($0 + 1)",
                doc: channels == 1 ? what : "\(what), channel \($0 + 1)", bus: "reference")
        }
        return Layout(
            ports: [Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "the microphone")] + reference
                + [Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the microphone without its echo")])
    }
}

extension vg_speex {
    /// Loads speexdsp. [control]
    static func load() throws(NodeError) -> vg_speex {
        let library: Library
        do throws(NodeError) {
            library = try Library(["libspeexdsp.so.1"], package: "libspeexdsp1")
        } catch {
            throw NodeError(
                error.message, hint: error.hint + ", or engine = \"kalman\"", key: EchoSettings.engine.name)
        }
        var functions = vg_speex()
        functions.echo_state_init = try library.function("speex_echo_state_init")
        functions.echo_state_destroy = try library.function("speex_echo_state_destroy")
        functions.echo_state_reset = try library.function("speex_echo_state_reset")
        functions.echo_ctl = try library.function("speex_echo_ctl")
        functions.echo_cancellation = try library.function("speex_echo_cancellation")
        return functions
    }
}
