// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit

/// What a plugin tells of its properties, as `patch:Set` or `patch:Put`, on its way from `run`. Full (64 KiB): what
/// does not fit is lost.
final class PropertyAnswers {
    private let ring = PacketRing(capacity: 1 << 16)
    private let properties: [LV2_URID: PluginProperty]
    private let room: UnsafeMutableRawPointer
    private let urids = URIDs(URIDMap.shared)
    private let patch = PatchURIDs()
    /// Told last, by URI.
    private(set) var known: [String: SettingValue] = [:]

    /// The audio thread's end.
    var ends: PacketRingEnds { ring.ends }

    init(_ properties: [PluginProperty]) {
        self.properties = Dictionary(
            properties.map { (URIDMap.shared.map($0.uri), $0) }, uniquingKeysWith: { first, _ in first })
        room = .allocate(byteCount: ring.ends.largest, alignment: 8)
    }

    deinit { room.deallocate() }

    /// Hands every value to `take`, and whether it is another than was told before. [control]
    func drain(_ take: (PluginProperty, SettingValue, Bool) -> Void) {
        while let (size, _) = ring.ends.pop(into: room) {
            for (key, value) in told(UnsafeRawBufferPointer(start: room, count: size)) {
                guard let property = properties[key] else { continue }
                take(property, value, known.updateValue(value, forKey: property.uri) != value)
            }
        }
    }

    /// The properties in one message: the body of an atom object.
    private func told(_ message: UnsafeRawBufferPointer) -> [(LV2_URID, SettingValue)] {
        guard message.count >= 8 else { return [] }
        let fields = Self.fields(UnsafeRawBufferPointer(rebasing: message[8...]))
        if message.load(fromByteOffset: 4, as: LV2_URID.self) == urids.patchSet {
            guard let key = fields.first(where: { $0.key == patch.property }), key.body.count >= 4,
                let field = fields.first(where: { $0.key == patch.value }), let value = value(field)
            else { return [] }
            return [(key.body.load(as: LV2_URID.self), value)]
        }
        guard let body = fields.first(where: { $0.key == patch.body }), body.body.count >= 8 else { return [] }
        return Self.fields(UnsafeRawBufferPointer(rebasing: body.body[8...])).compactMap { field in
            value(field).map { (field.key, $0) }
        }
    }

    private struct Field {
        var key, type: LV2_URID
        var body: UnsafeRawBufferPointer
    }

    /// Key, context, size, type and body, padded to 8 bytes, one behind the other.
    private static func fields(_ bytes: UnsafeRawBufferPointer) -> [Field] {
        var result: [Field] = []
        var position = 0
        while position + 16 <= bytes.count {
            let size = Int(bytes.load(fromByteOffset: position + 8, as: UInt32.self))
            guard size <= bytes.count - position - 16 else { break }
            result.append(
                Field(
                    key: bytes.load(fromByteOffset: position, as: LV2_URID.self),
                    type: bytes.load(fromByteOffset: position + 12, as: LV2_URID.self),
                    body: UnsafeRawBufferPointer(rebasing: bytes[(position + 16)..<(position + 16 + size)])))
            position += 16 + (size + 7) & ~7
        }
        return result
    }

    /// The value of a field; nil where it is of no type that files know.
    private func value(_ field: Field) -> SettingValue? {
        let body = field.body
        switch (field.type, body.count) {
        case (urids.float, 4): return .number(Double(body.load(as: Float.self)))
        case (urids.double, 8): return .number(body.load(as: Double.self))
        case (urids.int, 4): return .integer(Int64(body.load(as: Int32.self)))
        case (urids.long, 8): return .integer(body.load(as: Int64.self))
        case (urids.bool, 4): return .bool(body.load(as: Int32.self) != 0)
        case (urids.path, _), (urids.string, _), (patch.uri, _):
            return .string(String(decoding: body.prefix { $0 != 0 }, as: UTF8.self))
        case (patch.urid, 4):
            return URIDMap.shared.text(body.load(as: LV2_URID.self)).map { .string(String(cString: $0)) }
        default: return nil
        }
    }
}

/// The numbers that only the control side needs.
private struct PatchURIDs {
    let property = URIDMap.shared.map(VG_PATCH__property)
    let value = URIDMap.shared.map(VG_PATCH__value)
    let body = URIDMap.shared.map(VG_PATCH__body)
    let uri = URIDMap.shared.map(VG_ATOM__URI)
    let urid = URIDMap.shared.map(VG_ATOM__URID)
}
