// SPDX-License-Identifier: Apache-2.0
import JSON
import System
import Terminal

/// How findings are shown.
package enum DoctorText {
    /// For people: the worst first, each with what to do, in lines of `width` characters.
    package static func text(_ findings: [Finding], color: Bool, width: Int = 80) -> String {
        var text = ""
        var last: Finding.Severity?
        for finding in findings.worstFirst {
            if let last, last != finding.severity { text += "\n" }
            last = finding.severity
            text += FindingText.text(
                finding.severity.rawValue, "\(finding.area.rawValue): \(finding.message)", hint: finding.hint,
                code: color ? code(finding.severity) : nil, width: width)
        }
        return text + "\n" + summary(findings) + "\n"
    }

    /// For programs: one object.
    package static func json(_ findings: [Finding]) -> String {
        let list = findings.worstFirst.map { finding in
            JSON.object([
                "severity": .string(finding.severity.rawValue), "area": .string(finding.area.rawValue),
                "message": .string(finding.message), "hint": .string(finding.hint),
            ])
        }
        return JSON.object([
            "findings": .list(list), "errors": .integer(Int64(findings.count(.error))),
            "warnings": .integer(Int64(findings.count(.warning))),
        ]).text + "\n"
    }

    /// "1 error, 2 warnings; nothing can be heard as it is"
    package static func summary(_ findings: [Finding]) -> String {
        func count(_ severity: Finding.Severity) -> String {
            let number = findings.count(severity)
            return "\(number) \(severity.rawValue)\(number == 1 ? "" : "s")"
        }
        let numbers = "\(count(.error)), \(count(.warning))"
        return findings.count(.error) > 0 ? numbers + "; as it is, nothing will be heard" : numbers
    }

    private static func code(_ severity: Finding.Severity) -> String {
        switch severity {
        case .error: "1;31"
        case .warning: "1;33"
        case .fine: "32"
        }
    }
}
