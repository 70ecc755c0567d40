// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is turned and done while it plays.
extension NodeCheck {
    func parameters(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        let all = node.instance.parameters
        if all.isEmpty { return [CheckFinding(.fine, .parameters, "it has none")] }
        var loudest: (Float, String) = (0, "")
        func play(_ frames: Int, _ what: String) -> CheckFinding? {
            let sound = node.play(frames)
            if let broken = firstBroken(sound) { return Self.noNumber(.parameters, broken, " with \(what)") }
            for samples in sound {
                let peak = Signal.peak(samples)
                if peak > loudest.0 { loudest = (peak, what) }
            }
            return nil
        }
        for parameter in all {
            let points = parameter.points.map(\.value)
            let (lowest, highest) = (parameter.tried.lowerBound, parameter.tried.upperBound)
            for value in [lowest, highest] + points + [parameter.defaultValue] {
                node.set(parameter.key, value)
                if let broken = play(2400, "\(parameter.key) = \(value)") { return [broken] }
            }
            for (from, to) in [(lowest, highest), (highest, lowest)]
            where parameter.flags & UInt32(VG_PARAM_ABRUPT) == 0 {
                node.set(parameter.key, from)
                node.set(parameter.key, to, over: 1000)
                if let broken = play(2400, "\(parameter.key) from \(from) to \(to)") { return [broken] }
            }
            node.set(parameter.key, parameter.defaultValue)
        }
        var random = TestRandom(seed: 11)
        for _ in 0..<40 {
            for parameter in all {
                let isWhole = parameter.flags & UInt32(VG_PARAM_STEPPED | VG_PARAM_TOGGLE) != 0
                let value = Float.random(in: parameter.tried, using: &random)
                node.set(
                    parameter.key, isWhole ? value.rounded() : value,
                    over: parameter.flags & UInt32(VG_PARAM_ABRUPT) != 0 || isWhole ? 0 : 300)
            }
            if let broken = play(1200, "values at random") { return [broken] }
        }
        if loudest.0 > 1e4 {
            return [
                CheckFinding(
                    .warning, .parameters,
                    "with \(loudest.1) it makes \(decibelText(loudest.0)) of noise at -12 dBFS",
                    hint: "a host silences what is that loud: is the range right, is the filter stable?")
            ]
        }
        let count = all.count == 1 ? "its parameter" : "\(all.count) parameters"
        return [CheckFinding(.fine, .parameters, "every value of \(count) gives finite numbers")]
    }

    func liveSettings(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        let live = node.instance.declarations.settings.filter(\.isLive)
        if live.isEmpty { return [CheckFinding(.fine, .settings, "none can be changed while it plays")] }
        var refused: [CheckFinding] = []
        for setting in live {
            for value in setting.tried {
                do throws(NodeError) { try node.set(setting: setting.key, to: value) } catch {
                    // A file that is not there is refused rightly.
                    guard !setting.choices.isEmpty || setting.kind == VG_SET_BOOL else { continue }
                    refused.append(
                        CheckFinding(
                            .warning, .settings,
                            "it declares that \(setting.key) can be \(value), and refuses it: \(error.message)",
                            hint: error.hint))
                }
                if let broken = firstBroken(node.play(1200)) {
                    return [Self.noNumber(.settings, broken, " with \(setting.key) = \(value)")]
                }
            }
        }
        let names = live.map(\.key).joined(separator: ", ")
        return refused.isEmpty ? [CheckFinding(.fine, .settings, "changed while it played: \(names)")] : refused
    }

    func actions(_ make: Maker) throws(NodeError) -> [CheckFinding] {
        let node = try make()
        let all = node.instance.declarations.actions
        if all.isEmpty { return [CheckFinding(.fine, .actions, "it has none")] }
        var done: [String] = []
        var refused: [String] = []
        for action in all where !action.arguments.contains(where: \.required) {
            _ = node.play(1200)
            do throws(NodeError) {
                let results = try node.perform(action.name)
                for (name, value) in results where !action.results.contains(where: { $0.name == name }) {
                    return [
                        CheckFinding(
                            .error, .actions, "\(action.name) answers \(name) = \(value), which it does not declare",
                            hint: "declare it among the action's results")
                    ]
                }
                done.append(action.name)
            } catch { refused.append("\(action.name) (\(error.message))") }
            if let broken = firstBroken(node.play(1200)) {
                return [Self.noNumber(.actions, broken, " after \(action.name)")]
            }
        }
        var texts: [String] = []
        if !done.isEmpty { texts.append("done: \(done.joined(separator: ", "))") }
        if !refused.isEmpty { texts.append("refused: \(refused.joined(separator: ", "))") }
        let rest = all.count - done.count - refused.count
        if rest > 0 {
            texts.append("\(rest) that need\(rest == 1 ? "s" : "") arguments \(rest == 1 ? "was" : "were") left out")
        }
        return [CheckFinding(.fine, .actions, texts.joined(separator: "; "))]
    }
}

extension Parameter {
    /// Its range, as far as there are ends to it.
    var tried: ClosedRange<Float> { range.clamped(to: -1e6...1e6) }
}

extension Setting {
    /// Values that should be taken.
    fileprivate var tried: [SettingValue] {
        if !choices.isEmpty { return choices.map { .string($0) } }
        let range = range.map { [$0.lowerBound, $0.upperBound].filter(\.isFinite) } ?? []
        switch kind {
        case VG_SET_BOOL: return [.bool(true), .bool(false)]
        case VG_SET_INTEGER: return range.filter { abs($0) < 1e6 }.map { .integer(Int64($0)) }
        case VG_SET_NUMBER: return range.map { .number($0) }
        case VG_SET_STRING: return [.string(""), .string("a text")]
        default: return []
        }
    }
}
