// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import TestSupport

/// How far a sample of the soak's sine may be from the one before it, whatever is edited. The graph changes only by
/// `change`, so that no change is heard whose loudness is not allowed for.
struct SoakSteps {
    /// A sample that is too far from the one before it.
    struct Step: CustomStringConvertible {
        let size: Double
        let most: Double
        let frame: Int
        /// What was changed last before it, and how many frames before.
        let change: String
        let since: Int
        var share: Double { size.isFinite ? size / most : .infinity }
        var description: String {
            "at frame \(frame) a step of \(size), \(String(format: "%.2f", share)) of what is allowed, "
                + "\(since) frames after: \(change)"
        }
    }

    /// What was heard since the last look.
    struct Findings {
        var frames = 0
        var above = 0
        var largestShare = 0.0
        var first: Step?
    }

    /// What was under way in delays is still to come for less than so many frames: 8 delays of 3000 frames in a row are
    /// the longest way.
    static let memory = 96_000
    static let amplitude = 0.2512

    /// The graph as it is asked for.
    private(set) var graph: GraphDescription
    /// The louder of what was before a change and after it, by frames that were heard by all listeners. What passes unheard does not count, and neither does
    /// the time in which a server stands still.
    private var recent: [(frame: Int, loudest: Double)]
    private var marks: [(frame: Int, loudest: Double, change: String)] = []
    private var heardBefore = 0

    init(_ graph: GraphDescription) {
        self.graph = graph
        recent = [(0, graph.loudest + 0.01)]
    }

    private var loudest: Double { recent.lazy.map(\.loudest).max() ?? 0 }

    /// A listener listens from this frame of its recording on.
    mutating func listen(from frame: Int) { marks = [(frame, loudest, "a listener was connected")] }

    /// The graph is about to become another; the listener, if there is one, has recorded so many frames.
    mutating func change(to next: GraphDescription, _ change: String, at frame: Int?) {
        let now = heardBefore + (frame ?? 0)
        recent.removeFirst(recent.prefix { $0.frame + Self.memory < now }.count)
        recent.append((now, max(graph.loudest, next.loudest) + 0.01))
        if let frame, !marks.isEmpty { marks.append((frame, loudest, change)) }
        graph = next
    }

    /// Looks at all that a listener recorded, who is gone now.
    mutating func judge(_ heard: [Float], rate: Int) -> Findings {
        var findings = Findings()
        guard let first = marks.first else { return findings }
        // The sine's slope, and that of a link's, a gate's and a parameter's ramp at the same time.
        let steepest = 2 * Double.pi * 200 / Double(rate) + 3 / (0.01 * Double(rate))
        var mark = 0
        for frame in max(first.frame, 1)..<max(heard.count, first.frame, 1) {
            while mark + 1 < marks.count, marks[mark + 1].frame <= frame { mark += 1 }
            let size = Double(abs(heard[frame] - heard[frame - 1]))
            let most = Self.amplitude * 2 * max(marks[mark].loudest, 0.01) * steepest
            findings.largestShare = max(findings.largestShare, size.isFinite ? size / most : .infinity)
            // What is not a number is too far as well.
            if size <= most { continue }
            findings.above += 1
            guard findings.first == nil else { continue }
            let (begin, _, change) = marks[mark]
            findings.first = Step(size: size, most: most, frame: frame, change: change, since: frame - begin)
        }
        findings.frames = max(0, heard.count - first.frame)
        heardBefore += heard.count
        marks = []
        return findings
    }
}
