// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// One client of a `web-output`: takes what the graph gives, at the client's rate and clock, so that as much waits there as
/// should. By one thread at a time.
final class OutputListener {
    /// Frames of the graph that are worked on at once.
    private static let piece = 256
    /// Seconds that may wait to be pulled; after that the oldest are dropped.
    private static let most = 0.25
    /// Seconds that should wait at a client of which nothing is known yet, and at least.
    private static let least = 0.03
    /// Seconds of its own that a client has beside its jitter: what its audio thread takes at once, and how that varies.
    private static let own = 0.01
    /// The longest wait that jitter asks for, in seconds.
    private static let longest = 0.2
    /// How fast less jitter makes the wait shorter: seconds a second.
    private static let relaxation = 0.003
    /// More than this says nothing, in seconds.
    private static let longestExcess = 0.1
    /// Longer than this between two reports says nothing, in seconds.
    private static let longestReport = 2.0

    let name: String
    let number: Int
    private let rate: Double
    private let channels: Int
    private let map: ChannelMap
    private let buffer: Double?
    private let clock: WebClock
    private(set) var slot = 0
    private var pipe: OutputPipe?
    private var reader: OutputReader?
    private var resampler: VariableResampler?
    private var graphRate = 0.0
    private var backlog = Backlog()
    private var drift = DriftControl(smoothing: 4)
    private var dips = ArrivalJitter()
    /// Before the resampler, for what is lost, and behind it, for a new one.
    private var joint: Declick
    private var end: Declick
    private(set) var target: Double
    private var reportTime: Double?
    private var position: UInt32 = 0
    /// Frames of the graph that were read or are lost.
    private var read = 0
    /// Read from the ring and not resampled yet.
    private var pending: [Float]
    private var pendingFrames = 0
    private var work: [Float]
    /// Frames that were not pulled in time.
    private(set) var dropped = 0

    init(name: String, number: Int, rate: Double, map: ChannelMap, buffer: Double?, clock: WebClock) {
        self.name = name
        self.number = number
        self.rate = rate
        self.map = map
        self.buffer = buffer
        self.clock = clock
        channels = map.to
        joint = Declick(channels: map.to, rate: rate)
        end = joint
        target = buffer ?? Self.least
        pending = Array(repeating: 0, count: Self.piece * map.to)
        work = Array(repeating: 0, count: Self.piece * map.from)
    }

    /// Begins to read a slot of a pipe.
    func begin(_ pipe: OutputPipe, slot: Int) throws(NodeError) {
        if resampler == nil || graphRate != pipe.rate {
            resampler = nil
            joint = Declick(channels: channels, rate: pipe.rate)
            end.cut()
            resampler = try VariableResampler(from: pipe.rate, to: rate, channels: channels)
            resampler?.correct(drift.correction)
        }
        graphRate = pipe.rate
        self.slot = slot
        reader = pipe.open(slot)
        self.pipe = pipe
        backlog = Backlog()
        pendingFrames = 0
        joint.cut()
    }

    /// Goes on with another pipe. Where that cannot be, nothing comes, and what does not fit is counted.
    func restart(_ pipe: OutputPipe) {
        reader = nil
        try? begin(pipe, slot: slot)
    }

    /// Seconds from when the graph gave a frame until it leaves the client's buffer, as far as the client has said.
    var latency: Double? { drift.waiting.map { $0 + (resampler?.delay ?? 0) } }

    /// Gives interleaved frames, as many as there are and as there is room for.
    func pull(into buffer: UnsafeMutableBufferPointer<Float>) -> (frames: Int, position: UInt32) {
        leaveOutOld()
        guard let pipe, let reader, let resampler, let base = buffer.baseAddress else { return (0, position) }
        let room = buffer.count / channels
        var done = 0
        while done < room {
            if pendingFrames == 0 {
                let frames = work.withUnsafeMutableBufferPointer { work in
                    reader.read(into: work.baseAddress!, frames: Self.piece)
                }
                pending.withUnsafeMutableBufferPointer { pending in
                    work.withUnsafeBufferPointer { map.copy($0.baseAddress!, frames: frames, to: pending.baseAddress!) }
                    joint.pass(pending.baseAddress!, frames: frames)
                }
                pendingFrames = frames
                read += frames
            }
            let (taken, given) = pending.withUnsafeBufferPointer { pending in
                resampler.process(
                    UnsafeBufferPointer(rebasing: pending[..<(pendingFrames * channels)]),
                    into: UnsafeMutableBufferPointer(rebasing: buffer[(done * channels)..<(room * channels)]))
            }
            done += given
            if taken > 0, taken < pendingFrames {
                pending.withUnsafeMutableBufferPointer { pending in
                    pending.baseAddress!.update(
                        from: pending.baseAddress! + taken * channels, count: (pendingFrames - taken) * channels)
                }
            }
            pendingFrames -= taken
            if taken == 0, given == 0 { break }
        }
        end.pass(base, frames: done)
        backlog.send(Double(read) / graphRate, given: pipe.played / graphRate, at: clock.seconds)
        defer { position &+= UInt32(done) }
        return (done, position)
    }

    /// What waited too long is not heard any more; the position tells how much that was.
    private func leaveOutOld() {
        guard var reader else { return }
        var lost = reader.takeDropped()
        let waiting = reader.waiting
        if lost > 0 || Double(waiting) > Self.most * graphRate {
            // Of a ring that was full the end is missing: nothing of it is near.
            lost += reader.skip(lost > 0 ? waiting : waiting - Int(Self.least * graphRate))
        }
        self.reader = reader
        guard lost > 0 else { return }
        dropped += lost
        read += lost
        position &+= UInt32(truncatingIfNeeded: Int(Double(lost) * rate / graphRate))
        joint.cut()
    }

    /// Takes how many frames wait at the client.
    func report(_ frames: UInt32) {
        let now = clock.seconds
        defer { reportTime = now }
        let inBuffer = Double(frames) / rate
        guard let seconds = reportTime.map({ now - $0 }), seconds <= Self.longestReport else { return drift.restart() }
        // How far it falls below its mean is how late something came.
        dips.add(-inBuffer, over: seconds)
        if buffer == nil {
            let worst = max(dips.worst, backlog.worst)
            let wanted = min(max(Self.least, Self.own + 1.25 * worst), Self.longest)
            target = max(wanted, target - Self.relaxation * seconds)
        }
        let excess = pipe.map { backlog.excess(given: $0.played / graphRate) } ?? 0
        // So much is not sent only where the graph stands or nobody pulls.
        guard abs(excess) < Self.longestExcess else { return drift.restart() }
        drift.add(inBuffer + excess, target: target, over: seconds)
        resampler?.correct(drift.correction)
    }
}
