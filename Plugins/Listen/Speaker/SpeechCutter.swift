// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Cuts a stream into speeches, and these into windows for the model of voices.
struct SpeechCutter {
    /// What comes next of the stream.
    enum Part {
        /// Somebody begins to speak, at a position.
        case began(Double)
        /// The next window of the speech, and its position.
        case window(ArraySlice<Float>, Double)
        /// Nobody speaks any more, since a position.
        case ended(Double)
    }

    /// Seconds of speech that are some, and of silence that are its end.
    private static let (shortest, pause) = (0.15, 0.25)

    private let detector: any SpeechDetector
    private let step: Double
    private var cut: Windows
    private var gate: SpeechGate
    private var history: History
    /// What was heard of the speech, from the next window on; nil: nobody speaks.
    private var samples: [Float]?
    private var position = 0.0
    /// Whether the speech had a window.
    private var hasWindow = false

    /// `step`: of positions, from one sample to the next.
    init(_ detector: any SpeechDetector, step: Double) {
        self.detector = detector
        self.step = step
        cut = Windows(length: detector.window, step: step)
        let second = speechRate * step
        gate = SpeechGate(shortest: Self.shortest * second, pause: Self.pause * second)
        history = History(length: 2 * VoiceModel.samples, step: step)
        detector.reset()
    }

    /// Takes the next piece of the stream. [worker]
    mutating func take(
        _ piece: SpeechInput.Piece, _ body: (Part) throws(NodeError) -> Void
    ) throws(NodeError) {
        if piece.isNew {
            try close(at: piece.position, body)
            detector.reset()
            history.forget()
        }
        var windows: [([Float], Double)] = []
        cut.take(piece) { windows.append((Array($0), $1)) }
        for (window, position) in windows { try take(window, at: position, body) }
    }

    /// The stream ends, or does not go on.
    mutating func close(at position: Double, _ body: (Part) throws(NodeError) -> Void) throws(NodeError) {
        if case .ended(let end) = gate.close(at: position) { try finish(at: end, body) }
    }

    private mutating func take(
        _ window: [Float], at position: Double, _ body: (Part) throws(NodeError) -> Void
    ) throws(NodeError) {
        var probability: Result<Float, NodeError> = .success(0)
        window.withUnsafeBufferPointer { window in
            history.append(window, at: position)
            probability = Result { () throws(NodeError) in try detector.probability(window) }
        }
        let change = gate.take(try probability.get(), at: position, length: Double(window.count) * step)
        if case .started(let start) = change {
            let (heard, first) = history.samples(from: start)
            (samples, self.position, hasWindow) = (heard, first, false)
            try body(.began(start))
        } else {
            samples? += window
        }
        try giveWindows(body)
        if case .ended(let end) = change { try finish(at: end, body) }
    }

    private mutating func giveWindows(_ body: (Part) throws(NodeError) -> Void) throws(NodeError) {
        while let heard = samples, heard.count >= VoiceModel.samples {
            hasWindow = true
            try body(.window(heard[..<VoiceModel.samples], position))
            samples = Array(heard[VoiceModel.step...])
            position += Double(VoiceModel.step) * step
        }
    }

    private mutating func finish(at end: Double, _ body: (Part) throws(NodeError) -> Void) throws(NodeError) {
        guard samples != nil else { return }
        samples = nil
        // What is shorter than a window is heard with what is around it.
        let (around, first) = history.samples(from: 0)
        if !hasWindow, around.count >= VoiceModel.samples {
            let window = around.suffix(VoiceModel.samples)
            try body(.window(window, first + Double(around.count - window.count) * step))
        }
        try body(.ended(end))
    }
}
