// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// Where the graph's time stands, for whoever publishes. Seconds are added up format by format, so that the time never
/// jumps when the rate changes.
final class GraphTime: Sendable {
    /// What was played at one rate.
    private struct Span {
        /// The first frame, and when it was.
        var position: UInt64
        var seconds: Double
        /// Hz.
        var rate: Double
    }

    /// Frames done, as of the last look.
    let position = Atomic<UInt64>(0)
    private let spans = Lock([Span(position: 0, seconds: 0, rate: 48_000)])
    private static let mostSpans = 256

    /// From the frame `position` on there are `rate` frames a second. [control]
    func begin(rate: Double, at position: UInt64) {
        spans.withLock { spans in
            guard let last = spans.last, last.rate != rate else { return }
            if last.position == position { spans.removeLast() }
            spans.append(Span(position: position, seconds: Self.seconds(position, last), rate: rate))
            // What so many formats ago was played counts as played at the oldest rate that is known.
            if spans.count > Self.mostSpans { spans.removeFirst() }
        }
    }

    /// Seconds from the start until a frame. [any]
    func seconds(at position: UInt64) -> Double {
        spans.withLock { spans in
            Self.seconds(position, spans.last { $0.position <= position } ?? spans[0])
        }
    }

    /// The frame at a time. [any]
    func position(at seconds: Double) -> UInt64 {
        spans.withLock { spans in
            let span = spans.last { $0.seconds <= seconds } ?? spans[0]
            let frames = ((seconds - span.seconds) * span.rate).rounded()
            return span.position &+ UInt64(max(0, min(frames, 1e18)))
        }
    }

    private static func seconds(_ position: UInt64, _ span: Span) -> Double {
        span.seconds + Double(Int64(bitPattern: position &- span.position)) / span.rate
    }

    /// Seconds since the start. [any]
    var now: Double { seconds(at: position.load(ordering: .relaxed)) }

    /// The wall clock at a time of the graph, in seconds since 1970, UTC. [any]
    func wallTime(at time: Double) -> Double { calendarTime() - (now - time) }

    /// An event at a frame, or now, with both of its times. [any]
    func event(
        _ kind: EventType, node: String? = nil, at position: UInt64? = nil, fields: [String: SettingValue] = [:]
    ) -> Event {
        let time = position.map(seconds(at:)) ?? now
        return Event(kind, node: node, time: time, wallTime: wallTime(at: time), fields: fields)
    }
}

/// Seconds since 1970, UTC.
public func calendarTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
