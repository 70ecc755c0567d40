// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Hears phrases in mono at 16 kHz. By one thread at a time.
protocol WakeDetector: AnyObject {
    /// What comes is a new stream. [worker]
    func begin() throws(NodeError)
    /// Takes what follows, some hundreds of samples; the phrases that were heard in it. [worker]
    func take(_ samples: ArraySlice<Float>) throws(NodeError) -> [HeardPhrase]
}

/// A phrase that was heard.
struct HeardPhrase: Equatable {
    var phrase: String
    /// Seconds since the stream began; the start is not known to every detector.
    var start: Double?
    var end: Double
}

/// Hears phrases by PocketSphinx.
final class SphinxWake: WakeDetector {
    private let decoder: PocketSphinx

    init(_ model: PocketSphinxModel, _ search: PocketSphinxSearch) throws(NodeError) {
        decoder = try search.decoder(model)
    }

    func begin() throws(NodeError) { try decoder.begin() }

    func take(_ samples: ArraySlice<Float>) throws(NodeError) -> [HeardPhrase] {
        try decoder.take(samples)
        guard decoder.text != nil, let segment = decoder.segments.last else { return [] }
        // The same phrase would be found in the rest of this utterance again.
        try decoder.begin(goingOn: true)
        let rate = PocketSphinx.frameRate
        return [
            HeardPhrase(
                phrase: segment.text, start: Double(segment.first) / rate, end: Double(segment.last + 1) / rate)
        ]
    }
}
