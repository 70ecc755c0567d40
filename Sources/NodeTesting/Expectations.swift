// SPDX-License-Identifier: Apache-2.0
import NodeKit
import NodeTrials
import Testing

/// Expects that a type keeps every promise of a node; see `NodeCheck.Subject`. What is a warning there fails too, and so does a
/// node that cannot be made. Takes seconds.
public func expectPromises<N: Node>(
    of type: N.Type, _ settings: [String: SettingValue] = [:], except left: Set<NodeCheck.Subject> = [],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let check = NodeCheck(nodeType(type), settings)
    for subject in NodeCheck.Subject.allCases where !left.contains(subject) {
        for finding in check.findings(on: subject)
        where [.error, .warning].contains(finding.severity) || subject == .life && finding.severity == .omitted {
            let hint = finding.hint.isEmpty ? "" : "; \(finding.hint)"
            Issue.record("\(subject.rawValue): \(finding.message)\(hint)", sourceLocation: sourceLocation)
        }
    }
}

/// Expects silence: no sample above `limit` dBFS.
public func expectSilence(
    _ samples: some Collection<Float>, below limit: Double = -120, sourceLocation: SourceLocation = #_sourceLocation
) {
    let peak = Signal.decibels(Double(Signal.peak(samples)))
    #expect(!(peak > limit), "it peaks at \(fixed(peak, 1)) dBFS", sourceLocation: sourceLocation)
}

/// Expects an effective level (RMS) in dBFS; that of a sine at full scale is -3.01.
public func expectLevel(
    of samples: some Collection<Float>, _ level: Double, within tolerance: Double = 0.5,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let found = Signal.decibels(Signal.rms(samples))
    #expect(
        abs(found - level) <= tolerance, "it has \(fixed(found, 2)) dBFS, not \(fixed(level, 2))",
        sourceLocation: sourceLocation)
}

/// Expects that `frequency`, in Hz, is the strongest of a sound at `rate`, of which the first frames are looked at that are
/// a power of 2; and that all others are at least `others` dB below it, but for its neighbours under the window.
public func expectTone(
    _ frequency: Double, in samples: [Float], rate: Double, others: Double = 20,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard samples.count >= 256 else {
        Issue.record("\(samples.count) frames are too few for a spectrum", sourceLocation: sourceLocation)
        return
    }
    let count = 1 << (Int.bitWidth - 1 - samples.count.leadingZeroBitCount)
    let amplitudes = Spectrum.windowed(samples[..<count]).amplitudes
    let strongest = amplitudes.indices.max { amplitudes[$0] < amplitudes[$1] } ?? 0
    let width = rate / Double(count)
    #expect(
        abs(Double(strongest) * width - frequency) <= 1.5 * width,
        "the strongest is \(fixed(Double(strongest) * width, 1)) Hz", sourceLocation: sourceLocation)
    let rest = amplitudes.enumerated().filter { abs($0.offset - strongest) > 4 }.map(\.element).max() ?? 0
    let distance = Signal.decibels(amplitudes[strongest]) - Signal.decibels(rest)
    #expect(
        !(distance < others), "another frequency is only \(fixed(distance, 1)) dB below it",
        sourceLocation: sourceLocation)
}

/// Expects that what goes into a new node comes out as late as it declares, to a frame.
public func expectLatency<N: Node>(
    of type: N.Type, _ settings: [String: SettingValue] = [:], sourceLocation: SourceLocation = #_sourceLocation
) {
    for finding in NodeCheck(nodeType(type), settings).findings(on: .latency) where finding.severity != .fine {
        Issue.record("\(finding.message)", sourceLocation: sourceLocation)
    }
}

/// Expects the same samples; tells how many and where the first other one is, not all of them.
public func expectEqual(
    _ samples: [Float], _ wanted: [Float], _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    let first = zip(samples, wanted).enumerated().first { $1.0 != $1.1 }?.offset
    #expect(samples.count == wanted.count, "\(what)", sourceLocation: sourceLocation)
    guard let first else { return }
    Issue.record(
        "\(what): frame \(first) of \(wanted.count) is \(samples[first]), not \(wanted[first])",
        sourceLocation: sourceLocation)
}
