// SPDX-License-Identifier: Apache-2.0

/// How the channels of one side become those of the other: as they are; one becomes all; all become one, their mean.
struct ChannelMap {
    let from: Int
    let to: Int

    /// Nil: nobody can say which channel would be which.
    init?(from: Int, to: Int) {
        guard from == to || from == 1 || to == 1 else { return nil }
        (self.from, self.to) = (from, to)
    }

    /// Copies interleaved frames; the target must have room for them.
    func copy(_ source: UnsafePointer<Float>, frames: Int, to target: UnsafeMutablePointer<Float>) {
        if from == to { return target.update(from: source, count: frames * from) }
        for frame in 0..<frames {
            if from == 1 {
                for channel in 0..<to { target[frame * to + channel] = source[frame] }
            } else {
                var sum: Float = 0
                for channel in 0..<from { sum += source[frame * from + channel] }
                target[frame] = sum / Float(from)
            }
        }
    }
}
