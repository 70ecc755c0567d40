// SPDX-License-Identifier: Apache-2.0
import CSamplerate
import NodeKit

/// Turns a stream of interleaved frames at one rate into the same stream at another, with libsamplerate. The output
/// starts with the input's first instant; equal rates pass every bit. Not for the audio thread.
public final class Resampler {
    private let state: OpaquePointer?
    private let ratio: Double
    private let channels: Int
    private var pending: [Float] = []

    /// Prepares for `from` to `to` Hz. [control]
    public init(from: Double, to: Double, channels: Int) throws(NodeError) {
        ratio = to / from
        self.channels = channels
        guard from != to else {
            state = nil
            return
        }
        guard src_is_valid_ratio(ratio) != 0 else {
            throw NodeError("cannot convert \(Int(from)) Hz to \(Int(to)) Hz", hint: "the ratio must be at most 256")
        }
        var error: Int32 = 0
        state = src_new(Int32(SRC_SINC_MEDIUM_QUALITY), Int32(channels), &error)
        if state == nil { throw NodeError("resampler: \(String(cString: src_strerror(error)))") }
    }

    deinit { if let state { src_delete(state) } }

    /// Forgets everything: the next input is a new stream. [worker]
    public func reset() {
        pending = []
        if let state { src_reset(state) }
    }

    /// Takes frames and gives what is ready; `end` also gives what was still held back. [worker]
    public func process(_ input: UnsafeBufferPointer<Float>, end: Bool) -> [Float] {
        guard let state else { return Array(input) }
        pending += input
        var result: [Float] = []
        var used = 0
        while true {
            let room = Int(Double((pending.count - used) / channels) * ratio) + 4096
            var ended = false
            result.append(
                contentsOf: [Float](unsafeUninitializedCapacity: room * channels) { output, count in
                    pending.withUnsafeBufferPointer { pending in
                        var data = SRC_DATA()
                        // An empty array has no address, and the library wants one.
                        data.data_in = pending.baseAddress.map { $0 + used } ?? UnsafePointer(output.baseAddress)
                        data.input_frames = (pending.count - used) / channels
                        data.data_out = output.baseAddress
                        data.output_frames = room
                        data.src_ratio = ratio
                        data.end_of_input = end ? 1 : 0
                        if src_process(state, &data) != 0 { ended = true }
                        used += data.input_frames_used * channels
                        count = data.output_frames_gen * channels
                        if data.input_frames_used == 0 && data.output_frames_gen == 0 { ended = true }
                    }
                })
            if ended { break }
        }
        pending.removeFirst(used)
        return result
    }
}
