// SPDX-License-Identifier: Apache-2.0
import Realtime
import Synchronization
import TestSupport

/// Every length around the vector's, and longer ones; every start within a vector.
private let lengths = Array(0...40) + [63, 64, 65, 127, 128, 1000, 1024, 4097]

/// Runs `body` on buffers that start off any alignment and end in guards, which must stay as they are.
private func withBuffers(
    _ frames: Int, offset: Int,
    _ body: (_ out: UnsafeMutablePointer<Float>, _ input: UnsafeMutablePointer<Float>) -> Void
) -> Bool {
    let guardValue: Float = 12345
    var out = [Float](repeating: guardValue, count: frames + offset + 16)
    var input = out
    for frame in 0..<frames {
        out[offset + frame] = Float.random(in: -1...1)
        input[offset + frame] = Float.random(in: -1...1)
    }
    out.withUnsafeMutableBufferPointer { out in
        input.withUnsafeMutableBufferPointer { input in
            body(out.baseAddress! + offset, input.baseAddress! + offset)
        }
    }
    return out[..<offset].allSatisfy { $0 == guardValue } && out[(offset + frames)...].allSatisfy { $0 == guardValue }
}

private struct Kernel {
    var name: String
    var run: (UnsafeMutablePointer<Float>, UnsafePointer<Float>) -> Void
    var formula: (_ out: Float, _ input: Float, _ frame: Int) -> Float
}

@Suite("Kernels") struct KernelTests {
    @Test("Each kernel is its formula at every length and alignment, and writes nothing else", arguments: lengths)
    func formulas(frames: Int) {
        let step: Float = -0.001
        let kernels: [Kernel] = [
            Kernel(
                name: "scale", run: { DSP.scale($0, $1, gain: 0.7, frames: frames) },
                formula: { _, input, _ in input * 0.7 }),
            Kernel(name: "add", run: { DSP.add($0, $1, frames: frames) }, formula: { out, input, _ in out + input }),
            Kernel(
                name: "mixAdd", run: { DSP.mixAdd($0, $1, gain: -0.3, frames: frames) },
                formula: { out, input, _ in out + input * -0.3 }),
            Kernel(name: "scaleRamp") {
                DSP.scaleRamp($0, $1, gain: 0.5, step: step, frames: frames)
            } formula: { _, input, frame in
                input * (0.5 + Float(frame) * step)
            },
            Kernel(name: "mixAddRamp") {
                DSP.mixAddRamp($0, $1, gain: 0.5, step: step, frames: frames)
            } formula: { out, input, frame in
                out + input * (0.5 + Float(frame) * step)
            },
        ]
        for kernel in kernels {
            for offset in 0..<5 {
                var wrong: [Int] = []
                let guarded = withBuffers(frames, offset: offset) { out, input in
                    let before = Array(UnsafeBufferPointer(start: out, count: frames))
                    kernel.run(out, input)
                    for frame in 0..<frames
                    where abs(out[frame] - kernel.formula(before[frame], input[frame], frame)) > 1e-5 {
                        wrong.append(frame)
                    }
                }
                #expect(guarded, "\(kernel.name) wrote outside")
                #expect(wrong.isEmpty, "\(kernel.name)")
            }
        }
    }

    @Test("A gain of one scales to the same bits, also in place")
    func unity() {
        _ = withBuffers(133, offset: 1) { out, _ in
            let before = Array(UnsafeBufferPointer(start: out, count: 133))
            DSP.scale(out, out, gain: 1, frames: 133)
            #expect(Array(UnsafeBufferPointer(start: out, count: 133)) == before)
        }
    }

    @Test("A ramp cut into pieces is the ramp in one piece", arguments: [1, 7, 16, 50])
    func rampCut(piece: Int) {
        let input = [Float](repeating: 1, count: 480)
        var whole = [Float](repeating: 0, count: 480)
        var cut = whole
        let step: Float = 1 / 480
        DSP.scaleRamp(&whole, input, gain: 0, step: step, frames: 480)
        cut.withUnsafeMutableBufferPointer { cut in
            for start in stride(from: 0, to: 480, by: piece) {
                let frames = min(piece, 480 - start)
                DSP.scaleRamp(cut.baseAddress! + start, input, gain: Float(start) * step, step: step, frames: frames)
            }
        }
        for frame in 0..<480 { #expect(abs(whole[frame] - cut[frame]) < 1e-6) }
    }

    @Test("Zeros of both signs are zero; one sample that is not is found wherever it is", arguments: lengths)
    func isZero(frames: Int) {
        var samples = (0..<frames).map { $0 % 2 == 0 ? Float(0) : -0.0 }
        #expect(DSP.isZero(samples, frames: frames))
        for frame in [0, frames / 2, frames - 1] where frame >= 0 && frame < frames {
            for value in [Float.leastNonzeroMagnitude, -1, .nan, .infinity] {
                let kept = samples[frame]
                samples[frame] = value
                #expect(!DSP.isZero(samples, frames: frames), "\(value) at \(frame)")
                samples[frame] = kept
            }
        }
    }

    @Test("A thread with denormals off sees a denormal in the vectors and in the rest alike", arguments: [0, 17])
    func denormalsOff(frame: Int) {
        let found = Atomic(false)
        together({
            vg_denormals_off()
            var samples = [Float](repeating: 0, count: 18)
            samples[frame] = .leastNonzeroMagnitude
            found.store(!DSP.isZero(samples, frames: 18), ordering: .relaxed)
        }) {}
        let wasFound = found.load(ordering: .relaxed)
        #expect(wasFound)
    }
}

@Suite("Measure") struct MeasureTests {
    @Test("Peak is exact and the sum right at every length and alignment", arguments: lengths)
    func values(frames: Int) {
        for offset in 0..<5 {
            _ = withBuffers(frames, offset: offset) { samples, _ in
                let measured = DSP.measure(samples, frames: frames)
                let all = UnsafeBufferPointer(start: samples, count: frames)
                let sum = all.reduce(0.0) { $0 + Double($1) * Double($1) }
                #expect(measured.peak == all.map(abs).max() ?? 0)
                #expect(abs(Double(measured.sumOfSquares) - sum) <= 2e-6 * sum)
            }
        }
    }

    @Test("The peak is found at every position, negative or positive")
    func peakPosition() {
        for position in 0..<50 {
            for value in [Float(0.75), -0.75] {
                var samples = [Float](repeating: 0.1, count: 50)
                samples[position] = value
                #expect(DSP.measure(samples, frames: 50).peak == 0.75)
            }
        }
    }

    @Test(
        "A NaN anywhere makes peak and sum NaN, also beside an infinity",
        arguments: [0, 1, 7, 8, 15, 16, 31, 32, 48, 49])
    func notANumber(position: Int) {
        var samples = [Float](repeating: 0.5, count: 50)
        samples[20] = .infinity
        #expect(DSP.measure(samples, frames: 50) == Measure(peak: .infinity, sumOfSquares: .infinity))
        for value in [Float.nan, -Float.nan, .signalingNaN] {
            samples[position] = value
            let measured = DSP.measure(samples, frames: 50)
            #expect(measured.peak.isNaN)
            #expect(measured.sumOfSquares.isNaN)
        }
    }
}
