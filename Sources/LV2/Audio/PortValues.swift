// SPDX-License-Identifier: Apache-2.0
import CLilv

/// The values of a plugin's control inputs as a state keeps them: by symbol, as every host does, and by index as well
/// where several ports share a symbol.
struct PortValues {
    private(set) var bySymbol: [String: Float] = [:]
    /// "INDEX VALUE INDEX VALUE ..."; nil: every symbol is unique.
    private(set) var byIndexText: String?

    /// No values.
    init() {}

    /// `values` has one for each parameter.
    init(_ values: [Float], _ info: PluginInfo, _ ports: PortLayout) {
        var count: [String: Int] = [:]
        for port in ports.parameters { count[info.ports[port].symbol, default: 0] += 1 }
        var shared: [String] = []
        for (place, port) in ports.parameters.enumerated() {
            let symbol = info.ports[port].symbol
            if bySymbol[symbol] == nil { bySymbol[symbol] = values[place] }
            if count[symbol, default: 0] > 1 { shared.append("\(port) \(values[place])") }
        }
        if !shared.isEmpty { byIndexText = shared.joined(separator: " ") }
    }

    /// Reads such a text; what is no number is left out.
    static func byIndex(_ text: String) -> [Int: Float] {
        let words = text.split(separator: " ")
        var values: [Int: Float] = [:]
        for (word, next) in zip(words, words.dropFirst()).enumerated().filter({ $0.offset % 2 == 0 }).map(\.element) {
            if let index = Int(word), let value = Float(next), value.isFinite { values[index] = value }
        }
        return values
    }
}

/// A value of any numeric type; nil for others.
func number(_ value: UnsafeRawPointer, _ size: UInt32, _ type: UInt32) -> Float? {
    let urids = URIDs(URIDMap.shared)
    switch (type, size) {
    case (urids.float, 4): return value.loadUnaligned(as: Float.self)
    case (urids.double, 8): return Float(value.loadUnaligned(as: Double.self))
    case (urids.int, 4): return Float(value.loadUnaligned(as: Int32.self))
    case (urids.bool, 4): return value.loadUnaligned(as: Int32.self) == 0 ? 0 : 1
    case (urids.long, 8): return Float(value.loadUnaligned(as: Int64.self))
    default: return nil
    }
}

/// The values of control ports while lilv asks for them, as doubles: floats are written with fewer digits than they
/// have.
final class NamedValues {
    private let values: [String: Float]
    private let memory = UnsafeMutablePointer<Double>.allocate(capacity: 1)
    private let double = URIDMap.shared.map(VG_ATOM__Double)

    init(_ values: [String: Float]) { self.values = values }

    deinit { memory.deallocate() }

    /// The address of a value; lilv copies it before it asks for the next.
    func find(
        _ symbol: String, _ size: UnsafeMutablePointer<UInt32>, _ type: UnsafeMutablePointer<UInt32>
    ) -> UnsafeRawPointer? {
        size.pointee = 0
        type.pointee = 0
        guard let value = values[symbol] else { return nil }
        memory.pointee = Double(value)
        size.pointee = 8
        type.pointee = double
        return UnsafeRawPointer(memory)
    }
}
