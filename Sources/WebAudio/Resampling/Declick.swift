// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Joins what does not follow: the last sample before falls to zero within 5 ms, and what comes after rises, both along a
/// raised cosine.
struct Declick {
    private let channels: Int
    private let length: Int
    private var last: [Float]
    /// What falls now.
    private var falling: [Float]
    /// Frames of the fade that are done; `length`: there is none.
    private var done: Int

    /// Begins with silence, from which the first frames rise.
    init(channels: Int, rate: Double) {
        self.channels = channels
        length = max(1, Int(rate / 200))
        last = Array(repeating: 0, count: channels)
        falling = last
        done = 0
    }

    /// What comes next does not follow what came last.
    mutating func cut() {
        falling = last
        done = 0
    }

    /// Fades interleaved frames in place.
    mutating func pass(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
        guard frames > 0 else { return }
        for frame in 0..<min(frames, length - done) {
            done += 1
            let rise = Float(raisedCosine(Double(done) / Double(length)))
            for channel in 0..<channels {
                let place = frame * channels + channel
                samples[place] = samples[place] * rise + falling[channel] * (1 - rise)
            }
        }
        for channel in 0..<channels { last[channel] = samples[(frames - 1) * channels + channel] }
    }
}
