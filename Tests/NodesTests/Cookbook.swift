// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The transfer functions of the Audio EQ Cookbook (Robert Bristow-Johnson; W3C Note, 2021), written down as they stand
/// there, as a biquad in Double: what filters are compared with.
struct Cookbook {
    static let kinds = ["lowpass", "highpass", "lowshelf", "highshelf", "peak", "notch", "bandpass", "allpass"]

    var b: [Double]
    var a: [Double]

    init(_ kind: String, frequency: Double, q: Double, gain decibels: Double = 0, rate: Double) {
        let amplitude = pow(10, decibels / 40)
        let w0 = 2 * .pi * frequency / rate
        let (c, alpha) = (cos(w0), sin(w0) / (2 * q))
        let root = 2 * amplitude.squareRoot() * alpha
        switch kind {
        case "lowpass": b = [(1 - c) / 2, 1 - c, (1 - c) / 2]
        case "highpass": b = [(1 + c) / 2, -(1 + c), (1 + c) / 2]
        case "bandpass": b = [alpha, 0, -alpha]
        case "notch": b = [1, -2 * c, 1]
        case "allpass": b = [1 - alpha, -2 * c, 1 + alpha]
        case "peak": b = [1 + alpha * amplitude, -2 * c, 1 - alpha * amplitude]
        case "lowshelf":
            b = [
                amplitude * (amplitude + 1 - (amplitude - 1) * c + root),
                2 * amplitude * (amplitude - 1 - (amplitude + 1) * c),
                amplitude * (amplitude + 1 - (amplitude - 1) * c - root),
            ]
        default:
            b = [
                amplitude * (amplitude + 1 + (amplitude - 1) * c + root),
                -2 * amplitude * (amplitude - 1 + (amplitude + 1) * c),
                amplitude * (amplitude + 1 + (amplitude - 1) * c - root),
            ]
        }
        switch kind {
        case "peak": a = [1 + alpha / amplitude, -2 * c, 1 - alpha / amplitude]
        case "lowshelf":
            a = [
                amplitude + 1 + (amplitude - 1) * c + root, -2 * (amplitude - 1 + (amplitude + 1) * c),
                amplitude + 1 + (amplitude - 1) * c - root,
            ]
        case "highshelf":
            a = [
                amplitude + 1 - (amplitude - 1) * c + root, 2 * (amplitude - 1 - (amplitude + 1) * c),
                amplitude + 1 - (amplitude - 1) * c - root,
            ]
        default: a = [1 + alpha, -2 * c, 1 - alpha]
        }
    }

    /// |H| at a frequency in cycles per frame.
    func magnitude(at frequency: Double) -> Double {
        func size(_ x: [Double]) -> Double {
            let w = 2 * .pi * frequency
            let re = x[0] + x[1] * cos(w) + x[2] * cos(2 * w)
            let im = x[1] * sin(w) + x[2] * sin(2 * w)
            return (re * re + im * im).squareRoot()
        }
        return size(b) / size(a)
    }

    /// What becomes of a signal that nothing was before (direct form I).
    func filtered(_ signal: [Double]) -> [Double] {
        var (x1, x2, y1, y2) = (0.0, 0.0, 0.0, 0.0)
        return signal.map { x in
            let y = (b[0] * x + b[1] * x1 + b[2] * x2 - a[1] * y1 - a[2] * y2) / a[0]
            (x1, x2, y1, y2) = (x, x1, y, y1)
            return y
        }
    }
}

/// |H| of an impulse response at a frequency in cycles per frame.
func magnitude(of response: [Float], at frequency: Double) -> Double {
    // Horner's rule for the polynomial in z^-1.
    let (c, s) = (cos(2 * .pi * frequency), -sin(2 * .pi * frequency))
    var (re, im) = (0.0, 0.0)
    for sample in response.reversed() { (re, im) = (re * c - im * s + Double(sample), re * s + im * c) }
    return (re * re + im * im).squareRoot()
}
