// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

// What is said in frames, beyond values.

extension FrameWriter {
    mutating func put(_ layout: Layout) { put(.table(layout.values)) }

    mutating func put(_ message: Message) {
        switch message.content {
        case .text(let text): put(UInt8(0)); put(text)
        case .number(let number): put(UInt8(1)); put(number)
        case .bytes(let data):
            put(UInt8(2))
            put(UInt32(data.count))
            put(data)
        }
        put(message.item)
        put(message.position)
        put(UInt8((message.isPartial ? 1 : 0) | (message.isUrgent ? 2 : 0)))
    }

    mutating func put(_ health: Health) {
        let grade: UInt8 =
            switch health {
            case .ok: 0
            case .degraded: 1
            case .failed: 2
            }
        put(grade)
        put(health.reason ?? "")
    }

    /// An event as a frame.
    init(_ event: vg_event, node: UInt32) {
        self.init(.publish, node: node)
        put(event.name.map { String(cString: $0) } ?? "")
        put(event.position)
        put(UInt8(event.isSilent ? 1 : 0))
        let count = event.fields == nil ? 0 : Int(event.field_count)
        put(UInt32(count))
        for entry in UnsafeBufferPointer(start: event.fields, count: count) {
            put(entry.key.map { String(cString: $0) } ?? "")
            put(SettingValue(entry.value))
        }
    }

    /// A frame of series as a frame.
    init(_ frame: vg_frame, node: UInt32) {
        self.init(.series, node: node)
        put(frame.position)
        let rows = UnsafeBufferPointer(start: frame.rows, count: frame.rows == nil ? 0 : Int(frame.row_count))
        put(UInt32(rows.count))
        for row in rows {
            let count = row.values == nil ? 0 : row.count
            put(row.series)
            put(count)
            put(row.values, Int(count))
        }
    }

    /// A block of audio as a frame.
    init(_ audio: vg_audio, node: UInt32) {
        self.init(.audio, node: node)
        put(audio.rate)
        put(audio.position)
        put(audio.ownFrame)
        put(audio.hostTime)
        put(audio.channels)
        put(audio.frames)
        for channel in 0..<Int(audio.channels) { put(audio.samples[channel], Int(audio.frames)) }
    }
}

extension FrameReader {
    mutating func layout() -> Layout { Layout(table()) }

    mutating func message() -> Message {
        let content: Message.Content =
            switch number(UInt8.self) {
            case 0: .text(text())
            case 1: .number(number())
            default: .bytes(data())
            }
        let (item, position, flags): (UInt64, UInt64, UInt8) = (number(), number(), number())
        return Message(
            content, item: item, position: position, partial: flags & 1 != 0, urgent: flags & 2 != 0)
    }

    mutating func health() -> Health {
        let (grade, reason): (UInt8, String) = (number(), text())
        switch grade {
        case 0: return .ok
        case 1: return .degraded(reason)
        default: return .failed(reason)
        }
    }

    /// A name, a position, whether it is silent, fields.
    mutating func event() -> (name: String, position: UInt64, isSilent: Bool, fields: [(String, SettingValue)]) {
        let (name, position, silent): (String, UInt64, UInt8) = (text(), number(), number())
        return (name, position, silent != 0, (0..<count()).map { _ in (text(), value()) })
    }

    /// Calls `body` with a frame of the first `series` declared series, valid during the call; not when it makes no
    /// sense.
    mutating func withSeries(of series: Int, _ body: (vg_frame) -> Void) {
        let position: UInt64 = number()
        var rows: [vg_row] = []
        var values: [Float] = []
        for _ in 0..<count() {
            let (place, length): (UInt32, UInt32) = (number(), number())
            let row = samples(Int(length))
            guard row.count == Int(length) else { return }
            if Int(place) < series { rows.append(vg_row(series: place, count: length, values: nil)) } else { continue }
            values += row
        }
        values.withUnsafeBufferPointer { values in
            var start = 0
            for index in rows.indices {
                rows[index].values = values.baseAddress.map { $0 + start }
                start += Int(rows[index].count)
            }
            rows.withUnsafeBufferPointer { rows in
                body(
                    vg_frame(
                        size: UInt32(MemoryLayout<vg_frame>.size), row_count: UInt32(rows.count),
                        rows: rows.baseAddress, position: position))
            }
        }
    }

    /// Calls `body` with a block of audio, valid during the call; not when it makes no sense.
    mutating func withAudio(_ body: (vg_audio) -> Void) {
        let (rate, position): (Double, UInt64) = (number(), number())
        let (frame, time): (UInt64, UInt64) = (number(), number())
        let (channels, frames): (UInt32, UInt32) = (number(), number())
        guard channels <= 4096 else { return }
        let planar = (0..<channels).map { _ in samples(Int(frames)) }
        guard planar.allSatisfy({ $0.count == Int(frames) }) else { return }
        planar.flatMap { $0 }.withUnsafeBufferPointer { all in
            let planes = planar.indices.map { channel in all.baseAddress.map { $0 + channel * Int(frames) } }
            planes.withUnsafeBufferPointer { planes in
                body(
                    vg_audio(
                        size: UInt32(MemoryLayout<vg_audio>.size), channels: channels, frames: frames,
                        samples: planes.baseAddress, rate: rate, position: position, frame: frame, time: time))
            }
        }
    }
}
