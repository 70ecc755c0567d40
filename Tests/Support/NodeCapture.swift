// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Synchronization

/// A copy of a level frame that a node published.
public struct CapturedLevels: Sendable, Equatable {
    /// Linear, per channel.
    public var peak: [Float]
    /// Linear, per channel.
    public var rms: [Float]
    /// 0...1.
    public var orb: Float
    /// First frame after the window.
    public var position: UInt64
}

/// A copy of a block of audio that a node published.
public struct CapturedAudio: Sendable, Equatable {
    /// Samples per channel.
    public var channels: [[Float]]
    /// Hz.
    public var rate: Double
    /// Of the first frame.
    public var position: UInt64
}

/// A copy of an event that a node published.
public struct CapturedEvent: Sendable, Equatable {
    /// As the node named it.
    public var name: String
    /// Of an event with fields.
    public var fields: [String: SettingValue] = [:]
    /// Of an event with levels.
    public var levels: CapturedLevels?
    /// Of an event with audio.
    public var audio: CapturedAudio?

    init(_ event: vg_event) {
        name = event.name.map { String(cString: $0) } ?? ""
        for entry in UnsafeBufferPointer(start: event.fields, count: Int(event.field_count)) {
            fields[String(cString: entry.key)] = SettingValue(entry.value)
        }
        if let c = event.levels?.pointee {
            let count = Int(c.channels)
            levels = CapturedLevels(
                peak: Array(UnsafeBufferPointer(start: c.peak, count: count)),
                rms: Array(UnsafeBufferPointer(start: c.rms, count: count)), orb: c.orb, position: c.position)
        }
        if let c = event.audio?.pointee {
            audio = CapturedAudio(
                channels: (0..<Int(c.channels)).map {
                    Array(UnsafeBufferPointer(start: c.samples[$0], count: Int(c.frames)))
                },
                rate: c.rate, position: c.position)
        }
    }
}

/// A line that a node logged.
public struct CapturedLog: Sendable, Equatable {
    /// Raw value of `vg_log_level`.
    public var level: UInt32
    /// What it says.
    public var text: String
}

/// A message that a node sent.
public struct CapturedMessage: Sendable, Equatable {
    /// Index among the message outputs.
    public var port: Int
    /// What was sent.
    public var message: Message
}

/// Collects what a node tells its host; any thread may add and read.
public final class NodeCapture: Sendable {
    private struct State {
        var events: [CapturedEvent] = []
        var logs: [CapturedLog] = []
        var messages: [CapturedMessage] = []
        var acceptsMessages = true
    }

    private let state = Mutex(State())

    /// An empty capture.
    public init() {}

    /// Everything published so far, in order.
    public var events: [CapturedEvent] { state.withLock { $0.events } }
    /// Everything logged so far, in order.
    public var logs: [CapturedLog] { state.withLock { $0.logs } }
    /// Everything sent so far, in order.
    public var messages: [CapturedMessage] { state.withLock { $0.messages } }
    /// Whether `send` succeeds; false plays a receiver whose queue is full.
    public var acceptsMessages: Bool {
        get { state.withLock { $0.acceptsMessages } }
        set { state.withLock { $0.acceptsMessages = newValue } }
    }

    /// Forgets everything collected.
    public func clear() {
        state.withLock {
            $0.events = []
            $0.logs = []
            $0.messages = []
        }
    }

    /// The host's side, for `NodeInstance`.
    public var services: NodeServices {
        NodeServices(
            log: { level, text in
                self.state.withLock { $0.logs.append(CapturedLog(level: level.rawValue, text: text)) }
            },
            publish: { event in
                let event = CapturedEvent(event.pointee)
                self.state.withLock { $0.events.append(event) }
            },
            send: { port, message in
                self.state.withLock {
                    guard $0.acceptsMessages else { return false }
                    $0.messages.append(CapturedMessage(port: port, message: message))
                    return true
                }
            })
    }
}
