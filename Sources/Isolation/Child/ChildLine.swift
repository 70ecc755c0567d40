// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// What a node in a child tells its host, from any thread but the audio thread, and what of it was lost on the way.
final class ChildLine: Sendable {
    let node: UInt32
    private let channel: Channel
    /// By the names of counters; told when the host reads again.
    private let losses = Lock<[String: UInt64]>([:])

    init(_ node: UInt32, _ channel: Channel) {
        self.node = node
        self.channel = channel
    }

    /// Sends a frame; one that cannot be sent is counted. [any]
    @discardableResult
    func tell(_ frame: FrameWriter, orCount counter: String, milliseconds: Int32 = 1000) -> Bool {
        if channel.send(frame, milliseconds: milliseconds) { return true }
        lose(1, counter)
        return false
    }

    /// Sends a frame that tells how things are; one that cannot be sent is told anew later. [any]
    func tell(_ frame: FrameWriter) -> Bool { channel.send(frame, milliseconds: 0) }

    /// Counts what was lost. [any]
    func lose(_ number: UInt64, _ counter: String) {
        if number > 0 { losses.withLock { $0[counter, default: 0] += number } }
    }

    /// Tells the host what was lost, as far as it reads. [control]
    func tellLosses() {
        for (counter, number) in losses.withLock({ $0 }) {
            guard tell(count(counter, number)) else { return }
            losses.withLock { losses in
                let rest = (losses[counter] ?? 0) - number
                losses[counter] = rest == 0 ? nil : rest
            }
        }
    }

    private func count(_ counter: String, _ number: UInt64) -> FrameWriter {
        var frame = FrameWriter(.count, node: node)
        frame.put(counter)
        frame.put(number)
        return frame
    }

    /// The host, as the node sees it. `hostFacts` is asked from any thread.
    func services(_ hostFacts: @escaping @Sendable () -> HostFacts) -> NodeServices {
        var services = NodeServices()
        let node = node
        services.log = { [self] level, text in
            var frame = FrameWriter(.log, node: node)
            frame.put(level.rawValue)
            frame.put(text)
            tell(frame, orCount: "lost log lines")
        }
        services.publish = { [self] in tell(FrameWriter($0.pointee, node: node), orCount: "lost events") }
        services.publishFrame = { [self] in tell(FrameWriter($0.pointee, node: node), orCount: "lost measurements") }
        services.publishAudio = { [self] in tell(FrameWriter($0.pointee, node: node), orCount: "lost audio") }
        services.health = { [self] health in
            var frame = FrameWriter(.health, node: node)
            frame.put(health)
            tell(frame, orCount: "lost events")
        }
        services.count = { [self] counter, number in
            // What cannot be told now is told later.
            if !tell(count(counter, number)) { lose(number, counter) }
        }
        services.send = { [self] port, message in
            var frame = FrameWriter(.send, node: node)
            frame.put(UInt32(port))
            frame.put(message)
            return tell(frame, orCount: "lost messages")
        }
        services.outputLatency = { Int(hostFacts().outputLatency) }
        services.wanted = { hostFacts().wanted }
        return services
    }
}
