// SPDX-License-Identifier: Apache-2.0

/// A field of a message in a protocol buffer (protobuf.dev/programming-guides/encoding), which is what an ONNX model is.
struct ProtoField {
    var number: Int
    /// With its number and length.
    var whole: ArraySlice<UInt8>
    var content: ArraySlice<UInt8>

    /// The fields of a message; nil: it is none.
    static func all(in bytes: ArraySlice<UInt8>) -> [ProtoField]? {
        var fields: [ProtoField] = []
        var place = bytes.startIndex
        func number() -> Int? {
            var value: UInt64 = 0
            for shift in stride(from: 0, to: 64, by: 7) {
                guard place < bytes.endIndex else { return nil }
                value |= UInt64(bytes[place] & 127) << UInt64(shift)
                place += 1
                if bytes[place - 1] < 128 { return Int(truncatingIfNeeded: value) }
            }
            return nil
        }
        while place < bytes.endIndex {
            let start = place
            guard let key = number() else { return nil }
            var length: Int?
            switch key & 7 {
            case 0:
                let begin = place
                length = number().map { _ in place - begin }
                place = begin
            case 1: length = 8
            case 2: length = number()
            case 5: length = 4
            default: return nil
            }
            guard let length, length >= 0, length <= bytes.endIndex - place else { return nil }
            let content = bytes[place..<(place + length)]
            place += length
            fields.append(ProtoField(number: key >> 3, whole: bytes[start..<place], content: content))
        }
        return fields
    }
}

/// A field with a number below 16 that has a message or a text.
func protoMessage(_ number: Int, _ content: [UInt8]) -> [UInt8] {
    var head: [UInt8] = [UInt8(number << 3 | 2)]
    var length = content.count
    while length > 127 {
        head.append(UInt8(length & 127 | 128))
        length >>= 7
    }
    return head + [UInt8(length)] + content
}
