// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Turns interleaved frames of one clock into those of another, whose ratio is corrected while it runs, with the variable
/// rate of libsoxr. By one thread at a time; not for the audio thread.
final class VariableResampler {
    /// The largest correction that can be asked for.
    static let limit = 0.01

    /// Channels of both sides.
    let channels: Int
    /// Seconds between an input and the output that it causes.
    let delay: Double

    private let functions: SoxrFunctions
    private let state: OpaquePointer
    /// Input frames for an output frame, without correction.
    private let ratio: Double
    /// Output frames in which a new correction is reached.
    private let slew: Int
    private var correction = 0.0

    /// For `from` to `to` Hz. Throws where the library is missing. [control]
    init(from: Double, to: Double, channels: Int) throws(NodeError) {
        let functions = try SoxrFunctions.loaded.get()
        let ratio = from / to
        var failure: SoxrFunctions.Failure = nil
        let made = functions.withVariableRate { quality in
            functions.create(ratio * (1 + Self.limit), 1, UInt32(channels), &failure, nil, quality, nil)
        }
        guard let made, failure == nil else {
            let reason = failure.map { String(cString: $0) } ?? "no memory"
            throw NodeError("cannot convert \(Int(from)) Hz to \(Int(to)) Hz: \(reason)")
        }
        _ = functions.setRatio(made, ratio, 0)
        self.functions = functions
        self.ratio = ratio
        self.channels = channels
        state = made
        slew = max(1, Int(to / 20))
        // It works in pieces of its own; silence fills the first, and shows how far the output is behind.
        let silence = [Float](repeating: 0, count: 64 * channels)
        var output = [Float](repeating: 0, count: (Int(64 / ratio) + 8192) * channels)
        var (fed, got) = (0, 0)
        while fed < Int(from / 10) {
            var (taken, given) = (0, 0)
            _ = functions.process(made, silence, 64, &taken, &output, output.count / channels, &given)
            fed += taken
            got += given
        }
        delay = max(0, Double(fed) / from - Double(got) / to)
    }

    deinit { functions.delete(state) }

    /// From now on takes 1 + `correction` as much input for the same output; reached in a 20th of a second, so that
    /// nothing of it is heard.
    func correct(_ correction: Double) {
        let bounded = min(max(correction, -Self.limit), Self.limit)
        guard bounded != self.correction else { return }
        self.correction = bounded
        _ = functions.setRatio(state, ratio * (1 + bounded), slew)
    }

    /// Takes frames and gives what is ready, as many as there is room for in the output: how many of both.
    func process(_ input: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>) -> (
        taken: Int, given: Int
    ) {
        var (taken, given) = (0, 0)
        // Without an address it would be the end of the stream.
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 1) { nothing in
            let base = input.baseAddress ?? UnsafePointer(nothing.baseAddress!)
            _ = functions.process(
                state, base, input.count / channels, &taken, output.baseAddress, output.count / channels, &given)
        }
        return (taken, given)
    }
}
