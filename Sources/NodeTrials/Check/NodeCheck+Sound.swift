// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What comes out.
extension NodeCheck {
    /// Differences up to here, -80 dBFS, are those of rounding.
    private static let rounding: Float = 1e-4

    func blocks(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let frames = 24000
        let first = try make.offline()
        guard first.outputCount > 0 else {
            _ = first.play(frames, plan: .random(max: 1024, seed: 2))
            return [CheckFinding(.fine, .blocks, "it takes blocks of changing lengths; no sound comes out of it")]
        }
        let wanted = first.play(frames)
        if let broken = firstBroken(wanted) { return [Self.noNumber(.blocks, broken, "")] }
        if difference(wanted, try make.offline().play(frames), beyond: Self.rounding) != nil {
            for plan in BlockPlan.all { _ = try make.offline().play(frames, plan: plan) }
            return [
                CheckFinding(.omitted, .blocks, "its sound is another each time, so that nothing can be compared")
            ]
        }
        var found: [CheckFinding] = []
        for plan in BlockPlan.all {
            let sound = try make.offline().play(frames, plan: plan)
            if let broken = firstBroken(sound) { return [Self.noNumber(.blocks, broken, " in \(plan)")] }
            guard let other = difference(wanted, sound, beyond: Self.rounding) else { continue }
            found.append(
                CheckFinding(
                    .warning, .blocks,
                    "its sound in \(plan) is another than in blocks of 64, from frame \(other.frame) on, by up to "
                        + decibelText(other.peak),
                    hint: "count frames, not blocks: what moves once a block moves faster in shorter ones"))
        }
        if !found.isEmpty { return [found[0]] }
        let plans = "1, 64, 100 and 1024 frames and of changing lengths"
        return [CheckFinding(.fine, .blocks, "the same sound in blocks of \(plans)")]
    }

    func inPlace(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        guard type.pointee.flags & UInt32(VG_IN_PLACE) != 0 else {
            return [CheckFinding(.fine, .inPlace, "it does not ask for it")]
        }
        let wanted = try make.offline().play(9600)
        guard difference(wanted, try make.offline().play(9600), beyond: Self.rounding) == nil else {
            return [CheckFinding(.omitted, .inPlace, "its sound is another each time")]
        }
        let shared = try make.offline()
        shared.inPlace = true
        guard let other = difference(wanted, shared.play(9600), beyond: 1e-6) else {
            return [CheckFinding(.fine, .inPlace, "the same sound where output and input share a buffer")]
        }
        return [
            CheckFinding(
                .error, .inPlace,
                "where output and input share a buffer its sound is another, from frame \(other.frame) on, by up to "
                    + decibelText(other.peak),
                hint: "read a frame of each input before its output is written, or leave out VG_IN_PLACE")
        ]
    }

    func rates(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        var found: [CheckFinding] = []
        for (rate, block) in [(8000.0, 1), (22050, 16), (44100, 1024), (96000, 64), (192000, 8192)] {
            let at = "at \(Int(rate)) Hz in blocks of \(block)"
            do throws(NodeError) {
                let node = try make(rate: rate, maxBlock: block)
                if let broken = firstBroken(node.play(Int(rate / 4), plan: .fixed(block))) {
                    found.append(Self.noNumber(.rates, broken, " " + at))
                }
            } catch {
                found.append(CheckFinding(.warning, .rates, "\(at): \(error.message)", hint: error.hint))
            }
        }
        _ = try make()
        return found.isEmpty ? [CheckFinding(.fine, .rates, "8 to 192 kHz, blocks of 1 to 8192 frames")] : found
    }

    func brokenInput(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        guard node.inputCount > 0 else { return [CheckFinding(.fine, .input, "no sound goes into it")] }
        _ = node.play(4800)
        for value in [Float.nan, .infinity, -.infinity, 1e30] {
            _ = node.run(64, inputs: (0..<node.inputCount).map { _ in Signal.constant(value, frames: 64) })
        }
        guard node.outputCount > 0 else {
            return [CheckFinding(.fine, .input, "it lives through samples that are none")]
        }
        for second in 1...10 where firstBroken(node.play(48000, plan: .fixed(256), seed: UInt64(second))) == nil {
            let time = second == 1 ? "within a second" : "after \(second) s"
            return [CheckFinding(.fine, .input, "\(time) it has found back from samples that are no numbers")]
        }
        return [
            CheckFinding(
                .warning, .input,
                "10 s after one sample that is no number its own still are none; a host silences it",
                hint: "look at what is kept from block to block, and begin anew where it is not finite")
        ]
    }

    func denormals(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        guard node.outputCount > 0, node.inputCount > 0 else {
            return [CheckFinding(.fine, .denormals, "nothing goes through it that could die away")]
        }
        _ = node.play(24000)
        node.midiInputs = node.midiInputs.map { _ in [] }
        let tail = node.run(192_000, plan: .fixed(256))
        let smallest = tail.flatMap { $0 }.count { $0.isSubnormal }
        if smallest > 0 {
            return [
                CheckFinding(
                    .warning, .denormals, "\(smallest) samples of its end are below the smallest ordinary number",
                    hint: "they cost what comes after it up to 40 times an ordinary sample: let it end at 0")
            ]
        }
        return [CheckFinding(.fine, .denormals, "its sound dies away without the smallest of numbers")]
    }

    func reset(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make.offline()
        // A source may go on where it was.
        guard node.inputCount > 0 else {
            _ = node.play(9600)
            try node.prepare(node.preparation)
            _ = node.play(9600)
            return [CheckFinding(.fine, .reset, "it can be prepared again while it is active")]
        }
        let wanted = node.play(9600)
        guard difference(wanted, try make.offline().play(9600), beyond: Self.rounding) == nil else {
            return [CheckFinding(.omitted, .reset, "its sound is another each time")]
        }
        _ = node.play(9600, seed: 7)
        try node.prepare(node.preparation)
        let again = node.play(9600)
        guard node.outputCount > 0 else {
            return [CheckFinding(.fine, .reset, "it can be prepared again while it is active")]
        }
        guard let other = difference(wanted, again, beyond: Self.rounding) else {
            return [CheckFinding(.fine, .reset, "prepared again, it begins anew")]
        }
        return [
            CheckFinding(
                .warning, .reset,
                "prepared again, it sounds as no new one does, from frame \(other.frame) on, by up to "
                    + decibelText(other.peak),
                hint: "make in `prepare` everything that a block leaves to the next")
        ]
    }

    static func noNumber(_ subject: Subject, _ place: (output: Int, frame: Int), _ what: String) -> CheckFinding {
        CheckFinding(
            .error, subject, "frame \(place.frame) of output \(place.output) is no finite number\(what)",
            hint: "look at divisions, logarithms and roots, and at filters that are not stable")
    }
}
