// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import TestSupport

@testable import Terminal

/// What `voicegraph record` shows.
@Suite struct RecordingTests {
    private func view(
        _ peak: [Float], state: String = "recording", path: String = "takes/interview.flac",
        _ look: TerminalCapabilities = .init()
    ) -> RecordingView {
        var view = RecordingView(capabilities: look)
        view.update(Event("record.state", node: "take", fields: ["state": .string(state), "path": .string(path)]))
        view.update(seconds: 83)
        view.update(SeriesFrame(node: "meter", time: 0, peak: peak, rms: peak.map { $0 / 2 }, orb: 0), at: 10)
        return view
    }

    private func shown(_ view: RecordingView, _ width: Int, at time: Double = 10) -> Emulator {
        let rows = view.rows(width: width, at: time)
        var terminal = Emulator(width: max(1, width), height: rows.count)
        for (place, row) in rows.enumerated() { terminal.apply(Array("\u{1B}[\(place + 1);1H\(row)".utf8)) }
        #expect(terminal.faults.isEmpty)
        return terminal
    }

    @Test("Two lines tell time, name, keys, level and scale; at 80 columns none of it is cut") func twoLines() {
        let terminal = shown(view([0.5]), 79)
        #expect(terminal.height == 2)
        for text in ["● REC 1:23", "interview.flac", "space: pause  q: finish"] {
            #expect(terminal.row(0).contains(text), "\(terminal.text)")
        }
        for text in ["-60", "-48", "-12", "0", "-6.0 dB"] {
            #expect(terminal.row(1).contains(text), "\(terminal.text)")
        }
        let long = shown(view([0.5], path: String(repeating: "a", count: 90) + ".flac"), 79).row(0)
        #expect(
            long.contains("REC 1:23  aaa") && long.contains("….") == false
                && long.contains("aaa.flac  space: pause  q: finish"))
        let paused = shown(view([0.5], state: "paused"), 79).row(0)
        #expect(paused.contains("‖ paused 1:23") && paused.contains("space: go on"))
    }

    @Test("The bar is green, yellow and red where it is loud; silence is dark and says so") func zones() {
        func inks(_ peak: Float) -> Set<String> {
            let cells = shown(view([peak]), 79).cells[1].prefix(58)
            return Set(cells.filter { "█▏▎▍▌▋▊▉".contains($0.text) }.map(\.style))
        }
        #expect(inks(0).isEmpty && shown(view([0]), 79).row(1).hasSuffix("silent"))
        #expect(inks(0.1).count < inks(0.5).count && inks(0.5).count < inks(1).count)
        // The peak is held after the sound is over.
        #expect(shown(view([0.5]), 79, at: 11.4).row(1).contains("-6.0 dB"))
        #expect(shown(view([0.5]), 79, at: 20).row(1).contains("silent"))
    }

    @Test("What comes to full scale is counted, once while it stays there") func clips() {
        var view = view([1])
        func hear(_ peak: Float) {
            view.update(SeriesFrame(node: "meter", time: 0, peak: [peak], rms: [0.1], orb: 0), at: 10)
        }
        #expect(shown(view, 79).row(1).hasSuffix("1 clip"))
        hear(1.1)
        hear(0.2)
        hear(.nan)
        #expect(shown(view, 79).row(1).hasSuffix("2 clips") && view.sentence(at: 10).hasSuffix("2 clips"))
    }

    @Test("Each channel has a line, up to eight; of more the loudest is shown") func channels() {
        let two = shown(view([0.5, 0.1]), 79)
        #expect(two.height == 3 && two.row(1).hasPrefix("L -60") && two.row(2).hasPrefix("R -60"))
        #expect(two.row(1).contains("-6.0 dB") && two.row(2).contains("-20.0 dB"))
        let many = shown(view([0.01, 0.5] + [Float](repeating: 0.1, count: 14)), 79)
        #expect(many.height == 2 && many.row(1).contains("-6.0 dB"))
    }

    @Test("No width breaks it, and a terminal gets only what it can show", arguments: LookTests.ladders)
    func widths(ladder: (String, TerminalCapabilities)) {
        for width in [0, 1, 5, 12, 20, 29, 30, 39, 40, 79, 119, 300] {
            let terminal = shown(view([0.5, 1], path: "漢字漢字漢字漢字.wav", ladder.1), width)
            #expect(terminal.width <= max(1, width))
            if !ladder.1.unicode { #expect(terminal.text.allSatisfy { $0.isASCII }) }
        }
        let narrow = shown(view([0.5], ladder.1), 39).row(0)
        #expect(narrow.contains("REC 1:23") && narrow.contains("interview.flac") && narrow.contains("q: finish"))
    }

    @Test("A line of text tells the same where nothing can be drawn") func sentence() {
        #expect(view([0.5]).sentence(at: 10) == "1:23  recording  peak -6.0 dBFS")
        #expect(view([0]).sentence(at: 10) == "1:23  recording  silence")
    }
}
