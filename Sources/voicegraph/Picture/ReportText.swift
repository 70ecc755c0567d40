// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import JSON
import NodeKit
import Terminal

/// What a meter has found in a sound, for people and programs.
struct ReportText {
    private let report: Measurement.Report

    init(_ report: Measurement.Report) { self.report = report }

    var seconds: Double { report.seconds }
    private var isQuiet: Bool { report.integrated <= -70 }
    private var loudness: String { isQuiet ? "too quiet or too short" : "\(fixed(report.integrated, 1)) LUFS" }
    private var peak: String { report.truePeak <= -140 ? "silence" : "\(fixed(report.truePeak, 1)) dBTP" }
    private var clips: String { "\(report.clips) sample\(report.clips == 1 ? "" : "s")" }

    /// In a line, beside a picture.
    var line: String {
        var facts = [clock(report.seconds)]
        if !isQuiet { facts.append(loudness) }
        facts.append(peak)
        if report.clips > 0 { facts.append(clips + " clipped") }
        return facts.joined(separator: " · ")
    }

    /// A line for each fact.
    var table: String {
        let rows = [
            ("length", "\(fixed(report.seconds, 2)) s, \(report.channels) channel\(report.channels == 1 ? "" : "s")"),
            ("loudness", loudness), ("range", "\(fixed(report.range, 1)) LU"), ("true peak", peak),
            ("clipped", clips),
            ("DC", report.dc.magnitude < 5e-5 ? "none" : "\(fixed(report.dc * 100, 2)) % of full scale"),
            ("silence", "\(fixed(report.silence, 2)) s below -60 dBFS"),
        ]
        return rows.map { $0.0 + String(repeating: " ", count: 11 - $0.0.count) + $0.1 + "\n" }.joined()
    }

    /// Titles and widths of a table of several sounds, whose rows come one after the other.
    private static let columns = [
        ("length", 8), ("channels", 8), ("LUFS", 6), ("LU", 5), ("dBTP", 6), ("clipped", 8), ("DC %", 6),
        ("silence", 9),
    ]

    private static func line(_ cells: [String], _ file: String) -> String {
        zip(columns, cells).map { String(repeating: " ", count: max(0, $0.1 - $1.count)) + $1 + "  " }.joined() + file
            + "\n"
    }

    /// The first line of the table.
    static var title: String { line(columns.map(\.0), "file") }

    /// A line of the table; a dash stands for what is too quiet for a number.
    func row(of path: String) -> String {
        Self.line(
            [
                clock(report.seconds), "\(report.channels)", isQuiet ? "-" : fixed(report.integrated, 1),
                fixed(report.range, 1), report.truePeak <= -140 ? "-" : fixed(report.truePeak, 1), "\(report.clips)",
                fixed(report.dc * 100, 2), "\(fixed(report.silence, 2)) s",
            ], printable(path))
    }

    /// As an object; of what is silent there is no loudness and no peak.
    func json(_ path: String) -> String {
        var fields: [String: SettingValue] = [
            "file": .string(path), "seconds": .number(report.seconds), "channels": .integer(Int64(report.channels)),
            "range_lu": .number(report.range), "clipped": .integer(Int64(report.clips)), "dc": .number(report.dc),
            "silence_seconds": .number(report.silence),
        ]
        if !isQuiet { fields["loudness_lufs"] = .number(report.integrated) }
        if report.truePeak > -140 { fields["true_peak_dbtp"] = .number(report.truePeak) }
        return JSON(SettingValue.table(fields)).text
    }
}
