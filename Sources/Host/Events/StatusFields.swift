// SPDX-License-Identifier: Apache-2.0
import Drivers
import JSON
import NodeKit

extension Status {
    /// What other programs see of it, in an order of meaning. Whoever adds a fact adds it here, and it is written and read.
    static let all: [StatusField] = [
        StatusField("driver", \.driver), StatusField("notice", \.notice), StatusField("server", \.server),
        StatusField("own_server", \.ownServer), StatusField("rate", \.rate), StatusField("block", \.block),
        StatusField("threads", \.threads), StatusField("client", \.client), StatusField("pid", \.pid),
        StatusField("load", \.load), StatusField("xruns", \.xruns), StatusField("blocks", \.blocks),
        StatusField("state", \.state), StatusField("scheduling", \.scheduling), StatusField("dropouts", \.dropouts),
        StatusField("unrecorded", \.unrecorded), StatusField("lost_notes", \.lostNotes),
        StatusField("lost_midi", \.lostMIDI), StatusField("unconnected", \.unconnected, leftOut: \.isEmpty),
        StatusField("last_change", \.lastChange), StatusField("counters", \.counters),
        StatusField("degraded", \.degraded),
    ]

    /// All of it but the time, which every event has.
    public var fields: [(key: String, value: SettingValue)] {
        Self.all.compactMap { field in field.write(self).map { (field.key, $0) } }
    }

    /// Reads what was written, with the time; what is missing, or is something else, stays as it is in an empty status.
    public init(_ json: JSON) {
        self.init()
        for field in Self.all { json[field.key]?.setting.map { field.read(&self, $0) } }
        time = json["time"]?.double ?? 0
    }
}

/// One fact of a status: its key, and how it is written and read.
struct StatusField: Sendable {
    let key: String
    /// Nil: it is left out.
    let write: @Sendable (Status) -> SettingValue?
    let read: @Sendable (inout Status, SettingValue) -> Void

    init<Value: StatusValue>(
        _ key: String, _ path: WritableKeyPath<Status, Value> & Sendable,
        leftOut: KeyPath<Value, Bool> & Sendable = \.isNeverLeftOut
    ) {
        self.key = key
        write = { status in
            let value = status[keyPath: path]
            return value[keyPath: leftOut] ? nil : value.written
        }
        read = { status, value in
            if let value = Value(written: value) { status[keyPath: path] = value }
        }
    }
}

/// What a fact may be.
protocol StatusValue: SendableMetatype {
    /// Nil: there is none.
    var written: SettingValue? { get }
    /// Nil: it is something else.
    init?(written: SettingValue)
}

extension StatusValue {
    var isNeverLeftOut: Bool { false }
}

extension String: StatusValue {
    var written: SettingValue? { .string(self) }
    init?(written: SettingValue) {
        guard case .string(let text) = written else { return nil }
        self = text
    }
}

extension Bool: StatusValue {
    var written: SettingValue? { .bool(self) }
    init?(written: SettingValue) {
        guard case .bool(let value) = written else { return nil }
        self = value
    }
}

extension Double: StatusValue {
    var written: SettingValue? { .number(self) }
    init?(written: SettingValue) {
        guard let number = written.number else { return nil }
        self = number
    }
}

extension StatusValue where Self: FixedWidthInteger {
    var written: SettingValue? { .integer(Int64(clamping: self)) }
    init?(written: SettingValue) {
        guard case .integer(let number) = written else { return nil }
        self.init(clamping: number)
    }
}
extension Int: StatusValue {}
extension Int32: StatusValue {}
extension UInt64: StatusValue {}

/// What may stand as a key of a table.
protocol StatusKey: Hashable, SendableMetatype {
    var rawValue: String { get }
    init?(rawValue: String)
}
extension String: StatusKey {
    var rawValue: String { self }
    init?(rawValue: String) { self = rawValue }
}
extension Dropout.Cause: StatusKey {}

extension Dictionary: StatusValue where Key: StatusKey, Value: StatusValue {
    var written: SettingValue? {
        .table(
            [String: SettingValue](
                compactMap { key, value in value.written.map { (key.rawValue, $0) } }, uniquingKeysWith: { $1 }))
    }
    init?(written: SettingValue) {
        guard case .table(let table) = written else { return nil }
        self.init(
            table.compactMap { key, value in
                guard let key = Key(rawValue: key), let value = Value(written: value) else { return nil }
                return (key, value)
            }, uniquingKeysWith: { $1 })
    }
}

extension Optional: StatusValue where Wrapped: StatusValue {
    var written: SettingValue? { flatMap(\.written) }
    init?(written: SettingValue) { self = Wrapped(written: written) }
}

extension ChangeTimes: StatusValue {
    /// Reads what was written as `fields`; nil: it is not that.
    public init?(_ json: JSON) {
        guard let written = json.setting else { return nil }
        self.init(written: written)
    }

    var written: SettingValue? { .table(fields) }
    init?(written: SettingValue) {
        guard case .table(let table) = written, let done = table["done_ms"]?.number else { return nil }
        self.init(firstBlock: table["first_block_ms"]?.number.map { $0 * 1e-3 }, done: done * 1e-3)
    }
}

extension Scheduling: StatusValue {
    var written: SettingValue? {
        .table([
            "policy": .string(policy.rawValue), "priority": .integer(Int64(priority)), "realtime": .bool(isRealtime),
            "permitted": .bool(isPermitted), "locked_bytes": .integer(Int64(lockedMemory)),
            "locked_shared_bytes": .integer(Int64(sharedMemory)),
            // -1: no limit.
            "lockable_bytes": .integer(Int64(lockableMemory ?? -1)), "advice": .string(advice),
        ])
    }
    init?(written: SettingValue) {
        guard case .table(let table) = written else { return nil }
        self.init()
        func whole(_ key: String) -> Int { table[key].flatMap(Int.init(written:)) ?? 0 }
        policy = table["policy"].flatMap(String.init(written:)).flatMap(Policy.init) ?? .unknown
        priority = whole("priority")
        isPermitted = table["permitted"] == .bool(true)
        lockedMemory = whole("locked_bytes")
        sharedMemory = whole("locked_shared_bytes")
        lockableMemory = whole("lockable_bytes") < 0 ? nil : whole("lockable_bytes")
    }
}
