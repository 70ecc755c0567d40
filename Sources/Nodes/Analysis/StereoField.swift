// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How alike two channels are: the correlation coefficient of their samples, over the last 300 ms.
struct StereoField {
    /// Pairs of a goniometer in one 60th of a second.
    static let pointCount = 100

    private let rate: Double
    private var (product, left, right) = (0.0, 0.0, 0.0)

    init(rate: Double) { self.rate = rate }

    /// Takes frames, channel after channel; one channel is like itself.
    mutating func add(_ samples: UnsafePointer<Float>, channels: Int, frames: Int) {
        var (product, left, right) = (0.0, 0.0, 0.0)
        let other = channels > 1 ? frames : 0
        for frame in 0..<frames {
            let (a, b) = (Double(samples[frame]), Double(samples[other + frame]))
            product += a * b
            left += a * a
            right += b * b
        }
        let kept = exp(-Double(frames) / (0.3 * rate))
        self.product = self.product * kept + product
        self.left = self.left * kept + left
        self.right = self.right * kept + right
    }

    /// -1 to 1; 0 where one of them is silent.
    var correlation: Float {
        let power = (left * right).squareRoot()
        return power > 1e-12 ? Float(min(max(product / power, -1), 1)) : 0
    }

    /// Side and middle of frames evenly taken: (right - left) and (left + right), over the root of two, so that the sound of
    /// one channel lies on a diagonal and what both have stands upright.
    static func points(_ samples: UnsafePointer<Float>, channels: Int, frames: Int) -> [Float] {
        let other = channels > 1 ? frames : 0
        let scale = Float(0.5).squareRoot()
        return (0..<pointCount).flatMap { point -> [Float] in
            let frame = point * frames / pointCount
            let (left, right) = (samples[frame], samples[other + frame])
            return [(right - left) * scale, (left + right) * scale]
        }
    }
}
