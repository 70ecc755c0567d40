// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// One client of a `web-input`: takes what it sends, makes it fit to be heard, at the graph's rate and clock, and keeps as
/// much waiting as its jitter asks for. By one thread at a time.
final class InputClient {
    /// Frames that are worked on at once.
    private static let piece = 512
    /// The largest sample that is let through: +24 dBFS.
    private static let loudest: Float = 15.848_932
    /// Seconds beyond the target after which the oldest are dropped: until then the resampler catches up.
    private static let most = 0.2
    /// Seconds of reserve against jitter that there are at least.
    private static let leastReserve = 0.01
    /// Seconds of reserve before anything is known of a client.
    private static let firstReserve = 0.025
    /// The longest that jitter asks for, in seconds; what comes later than that was interrupted.
    private static let longestReserve = 0.15
    /// What is added to it when nothing was there in time, in seconds.
    private static let moreReserve = 0.005
    /// How fast less jitter makes the wait shorter: seconds a second.
    private static let relaxation = 0.003

    let name: String
    let number: Int
    private let rate: Double
    private let map: ChannelMap
    private let buffer: Double?
    private let clock: WebClock
    private var resampler: VariableResampler?
    private var drift = DriftControl()
    private var jitter = ArrivalJitter()
    private var position: InputPosition
    private var joint: Declick
    private var reserve = InputClient.firstReserve
    /// Of the pipe, when it was last looked at.
    private var underruns = 0
    private var target = 0.0
    /// One piece in the graph's channels, and what became of it.
    private var work: [Float]
    private var output: [Float] = []
    private var lost = 0
    private var dropped = 0
    private var unfit = 0

    init(name: String, number: Int, rate: Double, map: ChannelMap, buffer: Double?, clock: WebClock) {
        self.name = name
        self.number = number
        self.rate = rate
        self.map = map
        self.buffer = buffer
        self.clock = clock
        position = InputPosition(rate: rate)
        joint = Declick(channels: map.to, rate: rate)
        work = Array(repeating: 0, count: Self.piece * map.to)
    }

    /// Begins to write into a pipe.
    func begin(_ pipe: InputPipe) throws(NodeError) {
        resampler = try VariableResampler(from: rate, to: pipe.rate, channels: map.to)
        output = Array(repeating: 0, count: (Int(Double(Self.piece) * pipe.rate / rate) + 1024) * map.to)
        drift.restart()
        underruns = pipe.underruns
        choose(pipe, over: 0)
    }

    /// Goes on with another pipe. Where that cannot be, all is dropped, which is counted.
    func restart(_ pipe: InputPipe) {
        resampler = nil
        try? begin(pipe)
    }

    func add(to status: inout WebInputStatus) {
        status.client = name
        status.rate = rate
        status.latency = drift.waiting.map { $0 + (resampler?.delay ?? 0) }
        status.target = target
        status.drift = drift.drift * 1e6
        status.lost += lost
        status.dropped += dropped
        status.unfit += unfit
    }

    /// Takes interleaved frames in the client's channels.
    func push(_ place: UInt32, _ samples: UnsafeBufferPointer<Float>, to pipe: InputPipe) {
        let frames = samples.count / map.from
        guard frames > 0, samples.count == frames * map.from, let base = samples.baseAddress else {
            unfit += 1
            return
        }
        var first = 0
        switch position.take(place, frames: frames) {
        case .follows: break
        case .repeated(let count): first = count
        case .missing(let count):
            lost += count
            // Where nothing is heard now, that was the silence.
            if pipe.isPlaying { fill(count, to: pipe) } else { joint.cut() }
        case .begins(let count):
            lost += count
            jitter.restart()
            joint.cut()
        }
        guard first < frames else { return }
        measure(pipe, frames: frames - first)
        write(base + first * map.from, frames: frames - first, to: pipe)
        let longest = Int((target + Self.most) * pipe.rate)
        if pipe.waiting > longest { dropped += pipe.drop(keeping: Int(target * pipe.rate)) }
    }

    /// Looks at when it arrived and what waits, and corrects the ratio.
    private func measure(_ pipe: InputPipe, frames: Int) {
        let seconds = Double(frames) / rate
        jitter.add(clock.seconds - Double(position.total - frames) / rate, over: seconds)
        choose(pipe, over: seconds)
        if let delay = pipe.delay {
            drift.add(delay, target: target, over: seconds)
            resampler?.correct(drift.correction)
        } else {
            drift.restart()
        }
    }

    /// How much should wait now.
    private func choose(_ pipe: InputPipe, over seconds: Double) {
        let worst = min(max(1.25 * jitter.worst, Self.leastReserve), Self.longestReserve)
        reserve = max(worst, reserve - Self.relaxation * seconds)
        if pipe.underruns > underruns { reserve = min(reserve + Self.moreReserve, Self.longestReserve) }
        underruns = pipe.underruns
        // The audio thread takes a block at once, and keeps enough for a fade.
        let least = pipe.block + InputPipe.fade
        target = buffer.map { max($0, least + 0.001) } ?? (least + reserve)
        // Whatever is early now others will be late against.
        pipe.setTarget(Int((target + jitter.early) * pipe.rate))
    }

    /// Silence for frames that are missing.
    private func fill(_ count: Int, to pipe: InputPipe) {
        joint.cut()
        var left = count
        while left > 0 {
            let frames = min(left, Self.piece)
            work.withUnsafeMutableBufferPointer { work in
                work.baseAddress!.update(repeating: 0, count: frames * map.to)
                joint.pass(work.baseAddress!, frames: frames)
            }
            resample(frames, to: pipe)
            left -= frames
        }
        joint.cut()
    }

    private func write(_ samples: UnsafePointer<Float>, frames: Int, to pipe: InputPipe) {
        var start = 0
        while start < frames {
            let count = min(frames - start, Self.piece)
            work.withUnsafeMutableBufferPointer { work in
                let target = work.baseAddress!
                map.copy(samples + start * map.from, frames: count, to: target)
                for place in 0..<count * map.to where !(abs(target[place]) <= Self.loudest) {
                    target[place] = 0
                    unfit += 1
                }
                joint.pass(target, frames: count)
            }
            resample(count, to: pipe)
            start += count
        }
    }

    /// Brings what is in `work` to the graph's clock and into the pipe.
    private func resample(_ frames: Int, to pipe: InputPipe) {
        guard let resampler else {
            dropped += frames
            return
        }
        let channels = map.to
        var start = 0
        while true {
            let (taken, given) = work.withUnsafeBufferPointer { work in
                output.withUnsafeMutableBufferPointer { output in
                    resampler.process(
                        UnsafeBufferPointer(rebasing: work[start * channels..<frames * channels]), into: output)
                }
            }
            start += taken
            dropped += given - output.withUnsafeBufferPointer { pipe.write($0.baseAddress!, frames: given) }
            if given < output.count / channels, start >= frames || taken == 0 { return }
        }
    }
}
