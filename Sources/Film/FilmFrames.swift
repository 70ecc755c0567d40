// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Host
import Picture

/// The pictures of a film: takes what was measured, and draws what is due, several at the same time.
package final class FilmFrames {
    private let look: FilmLook
    private let kind: VideoEncoder.Kind
    private let rate: Double
    private let write: ([UInt8]) -> Bool
    private var motion = PictureMotion()
    private var waiting: [(state: PictureState, numbers: LineOfText?)] = []
    /// The numbers, and the time from which others may take their place: what changes faster cannot be read.
    private var numbers: (line: LineOfText?, until: Double) = (nil, 0)
    private var count = 0
    /// Whether nobody takes pictures any more.
    package private(set) var isRefused = false

    /// Drawn at the same time.
    private static let together = 4
    /// Seconds for which numbers stay.
    private static let reading = 0.25

    package init(
        _ look: FilmLook, kind: VideoEncoder.Kind, framesPerSecond: Double, to write: @escaping ([UInt8]) -> Bool
    ) {
        (self.look, self.kind, rate, self.write) = (look, kind, framesPerSecond, write)
    }

    /// Of the pictures that there are.
    package var seconds: Double { Double(count) / rate }

    /// Takes what was measured; all that are due before are drawn as things were.
    package func take(_ frame: SeriesFrame) {
        due(until: frame.time)
        for row in frame.rows { _ = motion.take(row.name, row.values, at: frame.time) }
    }

    /// Draws all that are due until the end.
    package func finish(at time: Double) {
        due(until: time)
        draw()
    }

    private func due(until time: Double) {
        while seconds < time {
            let state = motion.state(look.style, at: seconds)
            if seconds >= numbers.until { numbers = (look.numbers(state), seconds + Self.reading) }
            waiting.append((state, numbers.line))
            count += 1
            if waiting.count == Self.together { draw() }
        }
    }

    private func draw() {
        guard !waiting.isEmpty, !isRefused else { return waiting = [] }
        let due = waiting
        waiting = []
        let (look, kind) = (look, kind)
        nonisolated(unsafe) var pictures = [[UInt8]](repeating: [], count: due.count)
        pictures.withUnsafeMutableBufferPointer { pictures in
            nonisolated(unsafe) let pictures = pictures
            DispatchQueue.concurrentPerform(iterations: due.count) { index in
                pictures[index] = kind.bytes(
                    look.draw(due[index].state, due[index].numbers), over: look.isLight ? .white : .black)
            }
        }
        for picture in pictures where !isRefused { isRefused = !write(picture) }
    }
}
