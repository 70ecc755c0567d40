// SPDX-License-Identifier: Apache-2.0

/// From which windows hold speech to when somebody speaks: short noises are none, and short pauses are no end.
struct SpeechGate {
    /// What changed.
    enum Change: Equatable {
        /// Somebody speaks, since this position.
        case started(Double)
        /// Nobody does, since this position.
        case ended(Double)
    }

    /// From this probability on a window holds speech; 0.15 below it, it holds none.
    var threshold: Float = 0.5
    /// Speech shorter than this is none, in the unit of positions.
    var shortest: Double
    /// A pause of this length is an end.
    var pause: Double

    /// Whether somebody speaks.
    private(set) var isOpen = false
    /// Where what may be speech began.
    private var begin: Double?
    /// How much of it is speech.
    private var amount = 0.0
    /// Where what may be a pause began.
    private var silence: Double?

    init(shortest: Double, pause: Double) {
        self.shortest = shortest
        self.pause = pause
    }

    /// Takes the next window, which begins at a position and is so long.
    mutating func take(_ probability: Float, at position: Double, length: Double) -> Change? {
        let isSpeech = probability >= threshold
        let isSilence = probability < threshold - 0.15
        if isOpen {
            if !isSilence {
                silence = nil
                return nil
            }
            let since = silence ?? position
            silence = since
            guard position + length - since >= pause else { return nil }
            forget()
            return .ended(since)
        }
        if isSpeech {
            begin = begin ?? position
            amount += length
            silence = nil
        } else if begin != nil {
            // Two windows in a row without speech, and it was none.
            if silence != nil { forget() } else { silence = position }
        }
        guard let begin, isSpeech, amount >= shortest else { return nil }
        isOpen = true
        silence = nil
        return .started(begin)
    }

    /// Ends what goes on at a position where the stream stops.
    mutating func close(at position: Double) -> Change? {
        let wasOpen = isOpen
        let end = silence ?? position
        forget()
        return wasOpen ? .ended(end) : nil
    }

    private mutating func forget() {
        isOpen = false
        begin = nil
        amount = 0
        silence = nil
    }
}
