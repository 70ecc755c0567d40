// SPDX-License-Identifier: Apache-2.0
import CRealtime
import NodeKit
import System

/// How it lives and ends, and what that costs.
extension NodeCheck {
    func life(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        // The host may lose frames, and end and begin again.
        _ = node.play(12000)
        node.skipped = 4800
        _ = node.play(12000)
        node.instance.deactivate()
        node.instance.activate()
        _ = node.play(4800)
        node.instance.finish()
        node.instance.deactivate()
        let bad = node.capture.health.last { $0 != .ok }
        if case .failed(let reason)? = bad {
            return [CheckFinding(.omitted, .life, "it says that it has failed: \(reason)")]
        }
        return [CheckFinding(.fine, .life, "made, prepared, activated, ended; a block of 64 takes \(try cost(make))")]
    }

    /// How long a block of 64 frames takes: "310 ns".
    private func cost(_ make: Maker) throws(NodeError) -> String {
        let node = try make()
        _ = node.play(9600)
        let inputs = node.noise(64)
        var times: [UInt64] = []
        for _ in 0..<200 {
            _ = node.run([64], inputs: inputs)
            times.append(node.lastTime)
        }
        let median = Double(times.sorted()[times.count / 2])
        return median < 10_000 ? "\(fixed(median, 0)) ns" : "\(fixed(median / 1000, 1)) us"
    }

    func memory(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        func live(_ times: Int) throws(NodeError) {
            for _ in 0..<times {
                let node = try make()
                _ = node.play(1920)
                node.instance.finish()
                node.instance.deactivate()
            }
        }
        func taken() -> [Int] {
            [Int(vg_heap_bytes()), names(in: "/proc/self/task").count, names(in: "/proc/self/fd").count]
        }
        // What is made once for all nodes comes in the first ones; what is left behind comes in each, and malloc gives out no
        // less than 32 bytes.
        try live(10)
        let times = 20
        var before = taken()
        var least = [Int](repeating: .max, count: 3)
        let counts = [32 * times, times / 2, times / 2]
        for _ in 0..<10 where zip(least, counts).contains(where: { $0 >= $1 }) {
            try live(times)
            let after = taken()
            least = zip(least, zip(after, before)).map { min($0, $1.0 - $1.1) }
            before = after
        }
        var found: [CheckFinding] = []
        if least[0] >= counts[0] {
            found.append(
                CheckFinding(
                    .error, .memory, "every life of a node leaves \(least[0] / times) bytes behind",
                    hint: "give back in `destroy` what `create` and `prepare` took"))
        }
        for (what, lost) in [("threads", least[1]), ("open files", least[2])] where lost >= times / 2 {
            found.append(
                CheckFinding(
                    .error, .memory, "\(times) lives leave \(lost) \(what) behind",
                    hint: "end them in `deactivate` or `destroy`"))
        }
        return found.isEmpty
            ? [CheckFinding(.fine, .memory, "its lives left no memory, thread or open file behind")] : found
    }

    func realtime(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let count = RealtimeWatch.count
        let node = try make()
        for plan in [BlockPlan.fixed(64), .random(max: 1024, seed: 3)] { _ = node.play(24000, plan: plan) }
        for parameter in node.instance.parameters {
            for value in [parameter.tried.lowerBound, parameter.tried.upperBound, parameter.defaultValue] {
                node.set(parameter.key, value, over: parameter.flags & UInt32(VG_PARAM_ABRUPT) != 0 ? 0 : 200)
                _ = node.play(640)
            }
        }
        _ = node.run(4800, inputs: [])
        guard let count else {
            return [
                CheckFinding(
                    .omitted, .realtime, "libvoicegraph-realtime.so is not loaded, which would see it",
                    hint: "it comes with voicegraph; `LD_PRELOAD` loads it into other programs")
            ]
        }
        let found = RealtimeWatch.findings(since: count)
        if found.isEmpty {
            return [
                CheckFinding(.fine, .realtime, "nothing allocated, locked or called the system on the audio thread")
            ]
        }
        return found.map {
            CheckFinding(
                .error, .realtime, "on the audio thread: \($0)",
                hint: "do it in `prepare` or `poll`, and hand the result over by a ring")
        }
    }
}
