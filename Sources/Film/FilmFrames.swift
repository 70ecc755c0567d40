// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Host
import Picture
import Terminal

/// How the pictures of a film look.
package struct FilmLook: Sendable {
    package var style: PictureStyle
    package var preset: Preset?
    package var wave: WaveForm
    package var isLight: Bool
    /// Whether what is measured is written above pictures of measurements.
    package var hasNumbers: Bool
    package var size: PictureSize

    /// How all of it looks.
    package init(
        style: PictureStyle, preset: Preset?, wave: WaveForm, isLight: Bool, hasNumbers: Bool, size: PictureSize
    ) {
        (self.style, self.preset, self.wave) = (style, preset, wave)
        (self.isLight, self.hasNumbers, self.size) = (isLight, hasNumbers, size)
    }

    /// How high the letters of numbers are; nil: there are none, or they would be too small to read.
    private var letters: Double? {
        let size = Double(min(size.width, size.height)) / 26
        return hasNumbers && style.hasNumbers && size >= 7 ? size : nil
    }

    /// What is measured, as a line above the picture; nil: nothing is known.
    package func numbers(_ state: PictureState) -> LineOfText? {
        guard let letters, let words = caption(style, state.sound) else { return nil }
        return try? LineOfText(words, size: letters)
    }

    /// A picture. Where it has numbers, they have a place of their own at the top, since captions stand at the bottom.
    package func draw(_ state: PictureState, _ numbers: LineOfText?) -> PixelImage {
        func picture(_ height: Int) -> PixelImage {
            Picture.draw(
                style, state, preset: preset, wave: wave, onLight: isLight, width: size.width, height: height)
        }
        guard let letters else { return picture(size.height) }
        let top = Int((letters * 2).rounded(.up))
        var image = PixelImage(width: size.width, height: size.height)
        image.put(picture(size.height - top), x: 0, y: top)
        guard let numbers else { return image }
        let ink = isLight ? Color(0.25, 0.25, 0.25) : Color(0.8, 0.8, 0.8)
        image.write(numbers, x: (size.width - numbers.width) / 2, y: (top - numbers.height) / 2, color: ink)
        return image
    }
}

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
