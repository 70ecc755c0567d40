// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Marks in a WAV: the chunk `cue `, and one of labels, behind the audio (Microsoft, "Multimedia Programming Interface and Data
/// Specifications 1.0"; of an RF64, EBU Tech 3306). By one thread at a time.
struct WaveCues {
    private var marks: [(frame: UInt32, text: String)] = []

    /// Marks a frame; one beyond what the format can say is left out. [worker]
    mutating func add(_ frame: Int, _ text: String) {
        guard marks.count < 10_000, let frame = UInt32(exactly: frame) else { return }
        marks.append((frame, text))
    }

    /// Adds the chunks to a file that is complete without them; one on a full disk has none. [control]
    func write(to output: TakeOutput) {
        guard !marks.isEmpty else { return }
        var head = [UInt8](repeating: 0, count: 12)
        _ = output.seek(0, SEEK_SET)
        guard output.read(&head, 12) == 12 else { return }
        let size = output.seek(0, SEEK_END)
        let chunks = (size % 2 == 0 ? [] : [0]) + chunk("cue ", cues) + chunk("LIST", Array("adtl".utf8) + labels)
        guard output.append(chunks) else { return }
        // Behind "RIFF", or, where that has no room, first in the chunk that an RF64 begins with.
        let length = size + chunks.count - 8
        let isLong = head.starts(with: Array("RF64".utf8))
        let field = isLong ? bytes(UInt64(length)) : bytes(UInt32(truncatingIfNeeded: length))
        _ = output.seek(isLong ? 20 : 4, SEEK_SET)
        _ = output.write(field, field.count)
    }

    private var cues: [UInt8] {
        marks.enumerated().reduce(into: bytes(UInt32(marks.count))) { result, mark in
            result += bytes(UInt32(mark.offset + 1)) + bytes(mark.element.frame) + Array("data".utf8)
            result += bytes(UInt32(0)) + bytes(UInt32(0)) + bytes(mark.element.frame)
        }
    }

    private var labels: [UInt8] {
        marks.enumerated().reduce(into: []) { result, mark in
            result += chunk("labl", bytes(UInt32(mark.offset + 1)) + Array(mark.element.text.utf8) + [0])
        }
    }

    private func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + bytes(UInt32(content.count)) + content + (content.count % 2 == 0 ? [] : [0])
    }

    private func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
