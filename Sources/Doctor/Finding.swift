// SPDX-License-Identifier: Apache-2.0

/// Something that is known of this machine.
package struct Finding: Sendable, Equatable {
    /// How bad it is, the worst first.
    package enum Severity: String, CaseIterable, Sendable {
        /// Nothing can be heard.
        case error
        /// Something does not work, or may make dropouts.
        case warning
        case fine
    }

    package var severity: Severity
    package var area: DoctorArea
    /// What is so, in a sentence without its point.
    package var message: String
    /// What to do about it; empty where it is fine.
    package var hint: String
}

/// What findings are about, in the order in which they are told where they are equally bad.
package enum DoctorArea: String, CaseIterable, Sendable {
    case sound
    case graph
    case servers = "JACK"
    case pipeWire = "PipeWire"
    case cards = "sound cards"
    case hosts
    case realtime
    case processor
    case folders
    case nodeTypes = "node types"
    case models
    case lv2 = "LV2"

    /// Nothing can be heard.
    package func error(_ message: String, do hint: String) -> Finding {
        Finding(severity: .error, area: self, message: message, hint: hint)
    }

    /// Something is not as it should be.
    package func warning(_ message: String, do hint: String) -> Finding {
        Finding(severity: .warning, area: self, message: message, hint: hint)
    }

    /// Nothing has to be done.
    package func fine(_ message: String) -> Finding { Finding(severity: .fine, area: self, message: message, hint: "") }

    /// What is said where the machine did not let itself be looked at in time.
    package var unanswered: Finding {
        warning("this could not be looked at in time", do: "try again; something there hangs, or the machine is busy")
    }
}

extension [Finding] {
    /// The worst first; what is equally bad by area, and there in the order in which it was found.
    package var worstFirst: [Finding] {
        func rank(_ finding: Finding) -> (Int, Int) {
            (
                Finding.Severity.allCases.firstIndex(of: finding.severity)!,
                DoctorArea.allCases.firstIndex(of: finding.area)!
            )
        }
        return sorted { rank($0) < rank($1) }
    }

    /// How many are so bad.
    package func count(_ severity: Finding.Severity) -> Int { count { $0.severity == severity } }
}
