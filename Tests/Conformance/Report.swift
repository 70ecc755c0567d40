// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What came out of a census.
struct Report {
    private let results: [TrialResult]
    private let total: Int
    private let plan: ScanPlan

    init(_ results: [TrialResult], of total: Int, plan: ScanPlan) {
        self.results = results.sorted { $0.uri < $1.uri }
        self.total = total
        self.plan = plan
    }

    /// Plugins that came to the end with finite numbers.
    var ran: Int { count("ran") }

    /// The totals, in the manner of a table.
    var text: String {
        let loaded = results.count { $0.loaded }
        let columns = [
            ("plugins", total), ("loaded", loaded), ("ran", ran), ("NaN", count("nan")), ("crash", count("crash")),
            ("exit", count("exit")), ("hang", count("hang")), ("refused", count("refused")),
        ]
        var lines = [
            "", "\(plan.mode.rawValue), \(Int(plan.rate)) Hz, block \(plan.block.map(String.init) ?? "irregular")",
            columns.map { right($0.0) }.joined(), columns.map { right("\($0.1)") }.joined(),
        ]
        switch plan.mode {
        case .run:
            if total > 600 {
                lines.append(
                    "others, of 682, with Qt offscreen: Carla 672, mod-host 671, jalv 670; "
                        + "lv2bench 594, lv2apply 409, lv2file 402, lv2proc 260")
            }
        case .state:
            lines.append(
                "after a restore: the same \(ran), different \(count("differs")), "
                    + "not repeatable in themselves \(count("unrepeatable"))")
        case .presets: lines.append("presets loaded: \(results.reduce(0) { $0 + $1.presets })")
        }
        let notes = results.flatMap { result in result.notes.map { "note: \(result.uri): \($0)" } }
        if total > results.count { lines.append("interrupted after \(results.count)") }
        return (notes + lines).joined(separator: "\n")
    }

    /// Writes one line per plugin; false: errno says why not.
    func write(to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        fputs("uri\toutcome\tpresets\ttext\n", file)
        for result in results { fputs("\(result.uri)\t\(result.outcome)\t\(result.presets)\t\(result.text)\n", file) }
        return fclose(file) == 0
    }

    private func count(_ outcome: String) -> Int { results.count { $0.outcome == outcome } }

    private func right(_ text: String) -> String { String(repeating: " ", count: max(1, 9 - text.count)) + text }
}
