// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Picture

/// What a key asks of the host.
public enum FaceCommand: Sendable, Equatable {
    /// To end.
    case quit
    /// To cut a node's output off, or no more.
    case mute(String, Bool)
    /// To let a node's input go past it, or no more.
    case bypass(String, Bool)
    /// To make a node louder by so many dB.
    case gain(String, Double)
    /// To speak a line.
    case say(String)
    /// To do an action of a node.
    case perform(String, String)
    /// To keep what a node has heard: its name, and the text.
    case keep(String, String)
}

/// What keys have changed on the screen.
struct FaceKeys: Sendable {
    /// The node that keys are for.
    var selected: String?
    /// The line that is being written; nil: none is.
    var line: String?
    var showsHelp = false
    /// Whether the log is read, in place of all else.
    var readsLog = false
    /// How many entries of it there was room for.
    var page = 10

    /// All keys, for who asks.
    static let help: [(keys: String, does: String)] = [
        ("up, down", "choose a node"), ("m", "mute it, or no more"), ("b", "bypass it, or no more"),
        ("+  -", "make it 1 dB louder or quieter"), ("t", "type a line that is spoken"), ("x", "stop speaking"),
        ("r", "begin or complete a recording"), ("d", "begin or end a dictation"), ("w", "keep what was dictated"),
        ("space", "pause, and go on"), ("s", "another style of the picture"),
        ("p", "other colours"), ("c", "forget clips"), ("l", "read the log: up, down, PgUp, PgDn, Home, End"),
        ("mouse", "choose a node, change a picture, scroll; Shift selects text"), ("?", "this list"),
        ("q, Ctrl-C", "quit"),
    ]
}

extension FaceState {
    /// Does what a key says, on the screen that is shown; returns what is left for the host.
    mutating func press(_ key: KeyPress, on canvas: Canvas?) -> FaceCommand? {
        if keys.line != nil { return write(key) }
        if keys.showsHelp, !key.quits {
            keys.showsHelp = false
            return nil
        }
        if keys.readsLog, scroll(key) { return nil }
        switch key {
        case _ where key.quits: return .quit
        case .up, .text("k"): choose(-1)
        case .down, .text("j"): choose(1)
        case .pageUp: choose(-10)
        case .pageDown: choose(10)
        case .text("?"), .text("h"): keys.showsHelp = true
        case .text("l"): keys.readsLog = true
        case .click(let x, let y): return point(canvas?.target(x, y))
        case .wheel(let step, let x, let y): turn(step, canvas?.target(x, y))
        case .text("t"): keys.line = ""
        case .text("c"): for index in nodes.indices { nodes[index].forgetClips() }
        case .text("s"): look { $0.style = $0.style.map(\.next) }
        case .text("p"): look { $0.preset = ($0.preset ?? .verdant).next }
        case .text("x"): return speaker.map { .perform($0, VG_ACTION_STOP) }
        case .text("r"):
            return recorder.map { .perform($0, recording == "idle" ? VG_ACTION_START : VG_ACTION_FINISH) }
        case .text("d"): return listener.map { .perform($0, VG_ACTION_TOGGLE) }
        case .text("w"): return keep()
        case .text(" "): return pause()
        case .text("m"): return node.map { .mute($0.name, !$0.isMuted) }
        case .text("b"): return node.map { .bypass($0.name, !$0.isBypassed) }
        case .text("+"), .text("="): return node.flatMap { $0.hasGain ? .gain($0.name, 1) : nil }
        case .text("-"): return node.flatMap { $0.hasGain ? .gain($0.name, -1) : nil }
        default: break
        }
        return nil
    }

    /// A line that is being written: Enter ends it, Escape leaves it.
    private mutating func write(_ key: KeyPress) -> FaceCommand? {
        switch key {
        case .text(let letter): keys.line?.append(letter)
        case .erase: if keys.line?.isEmpty == false { keys.line?.removeLast() }
        case .enter:
            let line = keys.line ?? ""
            keys.line = nil
            return line.contains { $0 != " " } ? .say(line) : nil
        case .escape: keys.line = nil
        case .control("c"), .control("d"): return .quit
        case .control("u"): keys.line = ""
        default: break
        }
        return nil
    }

    /// Does what a key says while the log is read; false: it says nothing of it.
    private mutating func scroll(_ key: KeyPress) -> Bool {
        switch key {
        case .up, .text("k"): log.scroll(-1, first: keys.page)
        case .down, .text("j"): log.scroll(1, first: keys.page)
        case .pageUp: log.scroll(-keys.page, first: keys.page)
        case .pageDown: log.scroll(keys.page, first: keys.page)
        case .wheel(let step, _, _): log.scroll(3 * step, first: keys.page)
        case .home: log.scroll(-FaceLog.limit, first: keys.page)
        case .end: log.follow()
        case .text("l"), .escape, .enter:
            log.follow()
            keys.readsLog = false
        default: return false
        }
        return true
    }

    /// Does what is pointed at: a node is chosen, a picture gets another style.
    private mutating func point(_ target: Target?) -> FaceCommand? {
        switch target {
        case .node(let name): keys.selected = name
        case .picture(let name):
            if graphNodes.contains(where: { $0.name == name }) { keys.selected = name }
            look { $0.style = $0.style.map(\.next) }
        case .log: keys.readsLog = true
        case .help: keys.showsHelp = true
        case nil: break
        }
        return nil
    }

    /// A wheel goes through nodes, and back in the log.
    private mutating func turn(_ step: Int, _ target: Target?) {
        switch target {
        case .node: choose(step)
        case .log:
            keys.readsLog = true
            log.scroll(3 * step, first: keys.page)
        default: break
        }
    }

    private var node: GraphNode? { graphNodes.first { $0.name == keys.selected } ?? nil }

    private mutating func choose(_ step: Int) {
        guard !graphNodes.isEmpty else { return }
        let place = graphNodes.firstIndex { $0.name == keys.selected }
        let next = place.map { $0 + step } ?? (step > 0 ? 0 : graphNodes.count - 1)
        keys.selected = graphNodes[min(max(next, 0), graphNodes.count - 1)].name
    }

    private mutating func look(_ change: (inout NodeFace) -> Void) {
        let chosen = nodes.firstIndex { $0.name == keys.selected && $0.style != nil }
        if let index = chosen ?? nodes.firstIndex(where: { $0.style != nil }) { change(&nodes[index]) }
    }

    /// Who speaks: now, or last, or the first that could.
    private var speaker: String? { speaking.min() ?? speech?.node ?? parts.first(.speaks) }
    private var recorder: String? { parts.first(.records, chosen: keys.selected) }
    private var listener: String? { parts.dictation(chosen: keys.selected) }

    /// What was dictated is kept once it is whole.
    private mutating func keep() -> FaceCommand? {
        guard let listener else { return nil }
        guard !graphNodes.contains(where: { $0.name == listener && $0.keeps }) else {
            log.note("\(listener) keeps what it hears by itself", at: status.time)
            return nil
        }
        let dictation = dictations[listener] ?? Dictation()
        guard !dictation.isOn, !dictation.text.isEmpty else {
            log.note(
                dictation.state == "finishing"
                    ? "\(listener) still finishes the text"
                    : dictation.isOn
                        ? "\(listener) still listens: d ends that" : "nothing was dictated that could be kept",
                .warning, at: status.time)
            return nil
        }
        return .keep(listener, dictation.text)
    }
    private var recording: String { recorder.flatMap { recordings[$0] } ?? "idle" }

    /// A recording, or else the voice.
    private func pause() -> FaceCommand? {
        if let recorder, recording != "idle" {
            return .perform(recorder, recording == "paused" ? VG_ACTION_RESUME : VG_ACTION_PAUSE)
        }
        return speaker.map { .perform($0, isSpeechPaused ? VG_ACTION_RESUME : VG_ACTION_PAUSE) }
    }
}

extension PictureStyle {
    /// The one after it, around.
    fileprivate var next: PictureStyle {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
}

extension Preset {
    /// The one after it, around.
    fileprivate var next: Preset {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
}
