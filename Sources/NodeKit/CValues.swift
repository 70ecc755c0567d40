// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc

/// C memory for values and all that is in them, freed with the arena. A long list costs memory, not stack: values come
/// from files. Text with a NUL in it ends there.
struct CValueArena: ~Copyable {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit { for block in blocks { free(block) } }

    /// Copies a text.
    mutating func text(_ text: String) -> UnsafePointer<CChar> {
        let copy = strdup(text)!  // nil only without memory
        blocks.append(copy)
        return UnsafePointer(copy)
    }

    /// Copies entries; nil when there are none. Items of a list have no key.
    mutating func entries(_ items: [(key: String?, value: SettingValue)]) -> UnsafePointer<vg_entry>? {
        if items.isEmpty { return nil }
        let memory = calloc(items.count, MemoryLayout<vg_entry>.stride)!  // nil only without memory
        blocks.append(memory)
        let entries = memory.bindMemory(to: vg_entry.self, capacity: items.count)
        for (index, item) in items.enumerated() {
            entries[index].key = item.key.map { text($0) }
            entries[index].value = value(item.value)
        }
        return UnsafePointer(entries)
    }

    /// Copies a value.
    mutating func value(_ value: SettingValue) -> vg_value {
        var c = vg_value()
        switch value {
        case .bool(let bool):
            c.kind = VG_BOOL
            c.boolean = bool
        case .integer(let integer):
            c.kind = VG_INTEGER
            c.integer = integer
            c.number = Double(integer)
        case .number(let number):
            c.kind = VG_NUMBER
            c.number = number
        case .string(let string):
            c.kind = VG_STRING
            c.string = text(string)
        case .list(let items):
            c.kind = VG_LIST
            c.count = UInt32(items.count)
            c.items = entries(items.map { (nil, $0) })
        case .table(let table):
            c.kind = VG_TABLE
            c.count = UInt32(table.count)
            c.items = entries(table.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        }
        return c
    }
}

extension SettingValue {
    /// Calls `body` with the same value as a C struct, valid during the call.
    public func withCValue<R>(_ body: (UnsafePointer<vg_value>) -> R) -> R {
        var arena = CValueArena()
        let c = arena.value(self)
        let result = withUnsafePointer(to: c, body)
        _ = consume arena  // not before the call is over
        return result
    }
}
