// SPDX-License-Identifier: Apache-2.0
import Glibc
import LV2
import NodeKit

/// What a child does: one plugin, told to the parent line by line, so that it knows how far a plugin came that took
/// the process down.
///
/// Lines: `stage TEXT` before each step, `note TEXT`, and at last `end OUTCOME TEXT`.
struct Trial {
    let uri: String
    let plan: ScanPlan

    /// Where the parent reads.
    static let pipe: Int32 = 3

    func run() -> Never {
        // A plugin may be greedy, and its crashes are not worth a core file.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        limit = rlimit(rlim_cur: 8 << 30, rlim_max: 8 << 30)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        do {
            switch plan.mode {
            case .run: try play()
            case .state: try saveAndRestore()
            case .presets: try everyPreset()
            }
        } catch {
            tell("end refused \(line(error.message))\(error.hint.isEmpty ? "" : " (\(line(error.hint)))")")
        }
        // Without the libraries' own ends: those crash in some plugins, long after a host would have been done.
        _exit(0)
    }

    private func play() throws(NodeError) {
        stage("reading")
        let preset = World.shared.presets(of: uri).first
        let (outputs, player) = try played(preset: preset?.uri)
        if player.overran { tell("note wrote behind the end of a buffer") }
        stage("ending")
        player.node.deactivate()
        finish(outputs)
    }

    /// Makes a plugin, runs it, and leaves it active.
    private func played(preset: String?, state: String? = nil) throws(NodeError) -> ([[Float]], PluginPlayer) {
        stage("reading")
        let player = try PluginPlayer(uri, preset: preset, state: state, plan: plan)
        stage("starting")
        try player.prepare()
        tell("note loaded")
        stage("running")
        let outputs = player.run(plan.frames) { player.node.poll() }
        return (outputs, player)
    }

    /// Each copy is made in a fresh image of this process, because many plugins draw random numbers from a generator
    /// that all copies in a process share: a copy that is saved, one that is restored, and if they differ two more,
    /// which tell whether the plugin ever plays the same twice.
    private func saveAndRestore() throws(NodeError) {
        let folder = Self.folder(of: getpid())
        stage("reading")
        let preset = World.shared.presets(of: uri).first?.uri
        let (outputs, player) = try played(preset: plan.copy == 1 ? nil : preset, state: plan.copy == 1 ? folder : nil)
        guard plan.copy > 0 else {
            stage("saving")
            _ = try player.node.performAndWait(VG_ACTION_SAVE, ["folder": .string(folder)], patience: 60)
            guard Recording.write(outputs, to: folder) else {
                return tell("end refused cannot write to \(folder): \(String(cString: strerror(errno)))")
            }
            stage("removing")
            player.node.deactivate()
            return startAgain(copy: 1)
        }
        let difference = Recording.difference(outputs, from: folder)
        switch (plan.copy, difference) {
        case (1, nil): try playBesideAnother(outputs, player)
        case (1, let difference?): startAgain(copy: 2, apart: difference)
        case (_, let difference?):
            tell("end unrepeatable fresh copies differ by \(difference), a restored one by \(plan.apart)")
        case (2, nil): startAgain(copy: 3, apart: plan.apart)
        default: tell("end differs after a restore by \(plan.apart)")
        }
    }

    /// A second copy in the same process, then a third in the memory that it leaves.
    private func playBesideAnother(_ outputs: [[Float]], _ first: PluginPlayer) throws(NodeError) {
        for round in 1...2 {
            stage("running copy \(round + 1) in one process")
            let player = try PluginPlayer(uri, preset: nil, plan: plan)
            try player.prepare()
            _ = player.run(plan.maxBlock * 8)
            stage("removing copy \(round + 1) in one process")
        }
        stage("removing")
        first.node.deactivate()
        finish(outputs)
    }

    /// Goes on with the next copy, in the same process with nothing left of it but its number.
    private func startAgain(copy: Int, apart: Float = 0) {
        let words = ["lv2-conformance", "--trial", uri, "--copy", "\(copy)", "--apart", "\(apart)"] + plan.arguments
        var arguments = words.map { strdup($0) } + [nil]
        execv("/proc/self/exe", &arguments)
        tell("end refused no process: \(String(cString: strerror(errno)))")
    }

    /// Where a trial keeps the state; the parent removes it.
    static func folder(of process: pid_t) -> String { scratchFolder() + "/lv2-conformance-\(process)" }

    private func everyPreset() throws(NodeError) {
        stage("reading")
        let presets = World.shared.presets(of: uri)
        var failed: [String] = []
        for (index, preset) in presets.enumerated().dropFirst(plan.skip) {
            tell("preset \(index)")
            stage("loading preset \(index + 1) of \(presets.count): \(line(preset.label))")
            do {
                let player = try PluginPlayer(uri, preset: preset.uri, plan: plan)
                try player.prepare()
                let outputs = player.run(plan.maxBlock * 8)
                if isFinite(outputs) { tell("note preset") } else { failed.append("\(preset.label): not finite") }
            } catch {
                failed.append("\(preset.label): \(error.message)")
            }
        }
        tell("note loaded")
        if failed.isEmpty {
            tell("end ran \(presets.count) presets")
        } else {
            tell("end refused \(failed.count) presets: \(line(failed.prefix(3).joined(separator: "; ")))")
        }
    }

    private func finish(_ outputs: [[Float]]) {
        let peak = outputs.joined().reduce(Float(0)) { max($0, abs($1)) }
        if isFinite(outputs) {
            tell("end ran peak \(peak)")
        } else {
            let first = outputs.compactMap { $0.firstIndex { !$0.isFinite } }.min() ?? 0
            tell("end nan from frame \(first) on")
        }
    }

    private func isFinite(_ outputs: [[Float]]) -> Bool { outputs.allSatisfy { $0.allSatisfy(\.isFinite) } }

    private func stage(_ text: String) { tell("stage \(text)") }

    private func tell(_ text: String) { write(text + "\n", to: Self.pipe) }

    private func line(_ text: String) -> String { text.split(whereSeparator: \.isNewline).joined(separator: " ") }
}
