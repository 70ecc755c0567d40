// SPDX-License-Identifier: Apache-2.0
import JSON

/// What `--json` printed in an earlier run, and what is different now by more than the noise.
struct Comparison {
    /// A figure of a row, in both runs: the comparison with a peer where there is one, which a slower machine changes least.
    private struct Figure {
        var spread: Spread
        var unit: String

        /// Whether the two differ by more than what each of them spreads, and by enough to speak of: single figures do not
        /// say how they spread.
        func differs(from before: Figure) -> Bool {
            let (now, then) = (spread, before.spread)
            guard now.median.isFinite, then.median.isFinite, now.median != then.median else { return false }
            if now.low <= then.high, then.low <= now.high { return false }
            let isSingle = now.low == now.high || then.low == then.high
            return abs(now.median - then.median) > (isSingle ? 0.1 : 0.03) * max(abs(now.median), abs(then.median))
        }

        var text: String { "\(short(spread.median)) \(unit)" }
    }

    private let path: String
    private var before: [String: Figure] = [:]

    /// Reads the file. Throws if it has no figures.
    init(_ path: String) throws {
        guard let text = readFile(path) else { throw BenchmarkError("--compare: cannot read \(path)") }
        self.path = path
        for line in text.split(separator: "\n") {
            guard let row = try? JSON(line.utf8), let benchmark = row["benchmark"]?.string,
                let item = row["item"]?.string,
                let subject = row["subject"]?.string, let figure = Self.figure(row)
            else { continue }
            before[Self.key(benchmark, item, subject)] = figure
        }
        guard !before.isEmpty else {
            throw BenchmarkError("--compare: \(path) has no figures: make it with --json, as in --json > \(path)")
        }
    }

    /// One line for each row that is not what it was, and how many are.
    func table(_ rows: [(benchmark: Benchmark, row: Row)]) -> String {
        var lines: [Report.Line] = []
        var (same, new) = (0, 0)
        // How fast a peer is tells of the machine, and stands in the row that is compared with it.
        let peers = Set(
            rows.lazy.filter { $0.row.ratio != nil }.map {
                Self.key($0.benchmark.rawValue, $0.row.item, $0.row.against)
            })
        for (benchmark, row) in rows where row.value.median.isFinite {
            if peers.contains(Self.key(benchmark.rawValue, row.item, row.subject)) { continue }
            let now = Self.figure(row)
            guard let then = before[Self.key(benchmark.rawValue, row.item, row.subject)], then.unit == now.unit else {
                new += 1
                continue
            }
            guard now.differs(from: then) else {
                same += 1
                continue
            }
            let factor = now.spread.median / then.spread.median
            lines.append([row.item, row.subject, then.text, now.text, "\(short(factor)) x"])
        }
        let measured = Set(rows.map { Self.key($0.benchmark.rawValue, $0.row.item, $0.row.subject) })
        let left = before.keys.filter { !measured.contains($0) }.count
        let count =
            "as before within the noise: \(same); different: \(lines.count); not in it: \(new); not measured now: \(left)"
        let table =
            lines.isEmpty ? "" : Report.aligned([["", "", "before", "now", "factor"]] + lines, right: [2, 3, 4])
        return "beside \(path):\n" + table + count + "\n"
    }

    private static func key(_ benchmark: String, _ item: String, _ subject: String) -> String {
        "\(benchmark)\u{0}\(item)\u{0}\(subject)"
    }

    private static func figure(_ row: Row) -> Figure {
        if let ratio = row.ratio { return Figure(spread: ratio, unit: "x \(row.against)") }
        return Figure(spread: row.value, unit: row.unit)
    }

    private static func figure(_ row: JSON) -> Figure? {
        func spread(_ median: String, _ low: String, _ high: String) -> Spread? {
            guard let middle = row[median]?.double else { return nil }
            return Spread(median: middle, low: row[low]?.double ?? middle, high: row[high]?.double ?? middle)
        }
        if let ratio = spread("ratio", "ratio_low", "ratio_high"), let against = row["against"]?.string {
            return Figure(spread: ratio, unit: "x \(against)")
        }
        return spread("median", "low", "high").map { Figure(spread: $0, unit: row["unit"]?.string ?? "") }
    }
}
