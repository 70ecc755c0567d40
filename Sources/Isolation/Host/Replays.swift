// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What changes a node for longer than a message does: done again after a restart.
enum ReplayedCall: Sendable {
    case action(String, [String: SettingValue], first: SettingValue?)
    case setting(String, SettingValue)

    /// An action, if what it does lasts. `property` without a value only asks.
    init?(_ action: Action, _ arguments: [String: SettingValue]) {
        guard action.isLasting, action.name != VG_ACTION_PROPERTY || arguments["value"] != nil else { return nil }
        self = .action(action.name, arguments, first: action.arguments.first.flatMap { arguments[$0.key] })
    }

    /// Whether nothing is left of it once the other has been done.
    func isReplaced(by other: ReplayedCall) -> Bool {
        switch (self, other) {
        case (.action(let old, _, let oldFirst), .action(let new, _, let newFirst)): old == new && oldFirst == newFirst
        case (.setting(let old, _), .setting(let new, _)): old == new
        default: false
        }
    }

    /// Whether a saved state may hold it. Settings are what a node is made with.
    var isInState: Bool { if case .action = self { true } else { false } }

    /// For people.
    var text: String {
        switch self {
        case .setting(let key, _): "the setting '\(key)'"
        case .action(let name, _, .string(let first)?): "'\(name) \(first)'"
        case .action(let name, _, .integer(let first)?): "'\(name) \(first)'"
        case .action(let name, _, .number(let first)?): "'\(name) \(first)'"
        case .action(let name, _, _): "'\(name)'"
        }
    }

    /// The call as a frame. `deafness`: after a restart, when parameters that it turns within so many seconds are to stay
    /// as the host has them.
    func frame(_ node: UInt32, _ call: UInt32, urgent isUrgent: Bool = false, deafness: Double? = nil) -> FrameWriter {
        switch self {
        case .action(let name, let arguments, _):
            return FrameWriter(
                performing: name, arguments, node, call, urgent: isUrgent, deafness: deafness)
        case .setting(let key, let value):
            var frame = FrameWriter(.setting, node: node, call: call)
            frame.put(UInt8(0))
            frame.put(key)
            frame.put(value)
            return frame
        }
    }
}

extension FrameWriter {
    /// The call of an action.
    init(
        performing action: String, _ arguments: [String: SettingValue], _ node: UInt32, _ call: UInt32,
        urgent isUrgent: Bool, deafness: Double? = nil
    ) {
        self.init(.perform, node: node, call: call)
        put(UInt8(isUrgent ? 1 : 0))
        put(deafness ?? -1)
        put(action)
        put(SettingValue.table(arguments))
    }

    /// A message for a message input.
    init(_ message: Message, port: Int, _ node: UInt32) {
        self.init(.receive, node: node)
        put(UInt8(message.isUrgent ? 1 : 0))
        put(UInt32(port))
        put(message)
    }
}

/// The calls of one node that are done again, in their order. The caller guards it.
struct Replays: Sendable {
    /// One call, as it was asked for.
    struct Record: Sendable {
        var number: Int
        var call: ReplayedCall
        /// When it was asked for, or made again after a restart, in seconds, and how many blocks had then been asked of
        /// the node.
        var time: Double
        var blocks: UInt64
        var isDone = false
    }

    private(set) var records: [Record] = []
    private var lastNumber = 0
    /// What is kept at most.
    private static let most = 256

    /// Notes a call that is being asked for; returns its number.
    mutating func begin(_ call: ReplayedCall, blocks: UInt64) -> Int {
        lastNumber += 1
        records.append(Record(number: lastNumber, call: call, time: monotonicSeconds(), blocks: blocks))
        return lastNumber
    }

    /// A call is done, or, with `false`, is not. Returns what is not kept any more, as there is too much.
    mutating func end(_ number: Int, done isDone: Bool) -> ReplayedCall? {
        guard let index = records.firstIndex(where: { $0.number == number }) else { return nil }
        guard isDone else {
            records.remove(at: index)
            return nil
        }
        records[index].isDone = true
        let call = records[index].call
        records.removeAll { $0.number < number && $0.isDone && $0.call.isReplaced(by: call) }
        return records.count > Self.most ? records.removeFirst().call : nil
    }

    /// A call was made again in a new process, in which its effects may have to settle anew.
    mutating func restartSettling(_ number: Int, blocks: UInt64) {
        guard let index = records.firstIndex(where: { $0.number == number }) else { return }
        (records[index].time, records[index].blocks) = (monotonicSeconds(), blocks)
    }

    /// What was not done when the process ended is not done again.
    mutating func removeUnfinished() { records.removeAll { !$0.isDone } }

    /// The newest call up to which a state that is saved now holds all; 0: none.
    func settled(after seconds: Double, blocks: UInt64) -> Int {
        let time = monotonicSeconds()
        return records.prefix { $0.isDone && time - $0.time >= seconds && blocks > $0.blocks + 1 }.last?.number ?? 0
    }

    /// A state that holds everything up to a call was saved.
    mutating func removeSettled(_ number: Int) {
        records.removeAll { $0.isDone && $0.number <= number && $0.call.isInState }
    }

    /// Forgets all; returns it.
    mutating func removeAll() -> [ReplayedCall] {
        defer { records = [] }
        return records.map(\.call)
    }
}
