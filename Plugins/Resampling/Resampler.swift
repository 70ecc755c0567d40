// SPDX-License-Identifier: Apache-2.0
import CSoxr
import NodeKit

/// Turns a stream of interleaved frames at one rate into the same stream at another, with libsoxr. The output starts with
/// the input's first instant and is as long as the input, to the frame; equal rates pass every bit. Not for the audio
/// thread.
public final class Resampler {
    /// What it is good at. Each passes its band within 0.01 dB.
    public enum Quality: Sendable {
        /// Where time does not matter: up to 91 % of the lower rate's band, and what is folded is below 28 bits.
        case offline
        /// The same band; what is folded is below 20 bits. At 48 kHz up to 40 ms wait in it, and come at once.
        case live
        /// Up to 85 % of the band; what is folded is below 16 bits, and above 85 %. At 48 kHz up to 10 ms wait in it: for
        /// somebody who waits for what is heard.
        case prompt
    }

    private let state: OpaquePointer?
    private let ratio: Double
    private let channels: Int

    /// Prepares for `from` to `to` Hz. [control]
    public init(from: Double, to: Double, channels: Int, quality: Quality = .live) throws(NodeError) {
        ratio = to / from
        self.channels = channels
        guard from != to else {
            state = nil
            return
        }
        var error: soxr_error_t?
        var recipe = soxr_quality_spec(UInt(quality == .offline ? SOXR_VHQ : SOXR_HQ), 0)
        var runtime = soxr_runtime_spec(1)
        if quality == .prompt {
            (recipe.precision, recipe.passband_end, recipe.stopband_begin) = (16, 0.85, 1.15)
            // It works on as much at once as its transforms are long.
            runtime.log2_min_dft_size = 8
        }
        state = soxr_create(from, to, UInt32(channels), &error, nil, &recipe, &runtime)
        if state == nil || error != nil {
            throw NodeError(
                "cannot convert \(Int(from)) Hz to \(Int(to)) Hz: \(error.map { String(cString: $0) } ?? "no memory")")
        }
    }

    deinit { if let state { soxr_delete(state) } }

    /// Forgets everything: the next input is a new stream. [worker]
    public func reset() { if let state { soxr_clear(state) } }

    /// Takes frames and gives what is ready; `end` also gives what was still held back. [worker]
    public func process(_ input: UnsafeBufferPointer<Float>, end: Bool) -> [Float] {
        guard let state else { return Array(input) }
        var result: [Float] = []
        take(input, from: state, into: &result)
        // Without input it knows that no more comes.
        if end { take(nil, from: state, into: &result) }
        return result
    }

    private func take(_ input: UnsafeBufferPointer<Float>?, from state: OpaquePointer, into result: inout [Float]) {
        // Without an address it would be the end.
        if input?.isEmpty == true { return }
        var used = 0
        let frames = (input?.count ?? 0) / channels
        while true {
            let room = Int(Double(frames - used) * ratio) + 4096
            var (taken, given) = (0, 0)
            result.append(
                contentsOf: [Float](unsafeUninitializedCapacity: room * channels) { output, count in
                    let rest = input?.baseAddress.map { $0 + used * channels }
                    _ = soxr_process(state, rest, frames - used, &taken, output.baseAddress, room, &given)
                    count = given * channels
                })
            used += taken
            if given < room, used == frames || taken == 0 { return }
        }
    }
}
