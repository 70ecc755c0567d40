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
    /// To type a line to who answers: its name, and the line.
    case ask(String, String)
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
    var line: WrittenLine?
    /// What the names or types of the nodes that are listed have; empty: all are listed.
    var filter = ""
    /// What lies over all else.
    var overlay: Overlay?
    /// Whether the log is read, in place of all else.
    var readsLog = false
    /// How many entries of it there was room for.
    var page = 10

    enum Overlay: Sendable, Equatable {
        case help
        /// The link for browsers as a QR code.
        case code
        /// Recorders to choose from, and the one that is chosen.
        case recorders(Int)
    }

    enum Act: Sendable {
        case quit, help, log, previous, next, pagePrevious, pageNext, filter, all, mute, bypass, louder, quieter
        case say, ask, stop, record, dictate, keep, pause, style, colours, forgetClips, code
    }

    static let table = KeyTable<Act>(entries: [
        .init(
            "choose a node", [(.up, .previous), (.down, .next)],
            others: [
                (.text("k"), .previous), (.text("j"), .next), (.pageUp, .pagePrevious), (.pageDown, .pageNext),
            ]),
        .init("list only nodes with a name or type; Esc: all", [(.text("/"), .filter)], others: [(.escape, .all)]),
        .init("mute it, or no more", [(.text("m"), .mute)]),
        .init("bypass it, or no more", [(.text("b"), .bypass)]),
        .init(
            "make it 1 dB louder or quieter", [(.text("+"), .louder), (.text("-"), .quieter)],
            others: [(.text("="), .louder)]),
        .init("type a line that is spoken", [(.text("t"), .say)]),
        .init("type a line to the agent", [(.text("a"), .ask)]),
        .init("stop speaking", [(.text("x"), .stop)]),
        .init("begin or complete a recording", [(.text("r"), .record)]),
        .init("begin or end a dictation", [(.text("d"), .dictate)]),
        .init("keep what was dictated", [(.text("w"), .keep)]),
        .init("pause, and go on", [(.text(" "), .pause)]),
        .init("another style of the picture", [(.text("s"), .style)]),
        .init("other colours", [(.text("p"), .colours)]),
        .init("forget clips", [(.text("c"), .forgetClips)]),
        .init("show the link for browsers as a QR code", [(.text("o"), .code)]),
        .init("read the log: arrows, PgUp, PgDn, Home, End", [(.text("l"), .log)]),
        .init("choose a node, change a picture; Shift selects text", [], named: "mouse"),
        .init("this list", [(.text("?"), .help)], others: [(.text("h"), .help)]),
        .init(
            "quit", [(.text("q"), .quit), (.control("c"), .quit)],
            others: [(.text("Q"), .quit), (.control("d"), .quit)]),
    ])
}

extension TerminalView {
    /// All keys of the view, for who asks.
    public static var keys: [KeyHelp] { FaceKeys.table.help }
}

extension FaceState {
    /// Does what a key says, on the screen that is shown; returns what is left for the host.
    mutating func press(_ key: KeyPress, on canvas: Canvas?) -> FaceCommand? {
        if keys.line != nil { return write(key) }
        let act = FaceKeys.table.act(key)
        if let overlay = keys.overlay, act != .quit { return press(key, over: overlay) }
        if keys.readsLog, scroll(key) { return nil }
        switch key {
        case .click(let x, let y): return point(canvas?.target(x, y))
        case .wheel(let step, let x, let y): turn(step, canvas?.target(x, y))
        default: break
        }
        switch act {
        case .quit: return .quit
        case .previous: choose(-1)
        case .next: choose(1)
        case .pagePrevious: choose(-10)
        case .pageNext: choose(10)
        case .filter: keys.line = WrittenLine(.filter, keys.filter)
        case .all: keys.filter = ""
        case .help: keys.overlay = .help
        case .log: keys.readsLog = true
        case .code: showCode()
        case .say: keys.line = WrittenLine(.say)
        case .ask:
            if let agent = parts.first(.converses, chosen: keys.selected) { keys.line = WrittenLine(.ask(agent)) }
        case .forgetClips: for index in nodes.indices { nodes[index].forgetClips() }
        case .style: look { $0.style = $0.style.map(\.next) }
        case .colours: look { $0.preset = ($0.preset ?? .verdant).next }
        case .stop: return speaker.map { .perform($0, VG_ACTION_STOP) }
        case .record: return record()
        case .dictate: return listener.map { .perform($0, VG_ACTION_TOGGLE) }
        case .keep: return keep()
        case .pause: return pause()
        case .mute: return node.map { .mute($0.name, !$0.isMuted) }
        case .bypass: return node.map { .bypass($0.name, !$0.isBypassed) }
        case .louder: return node.flatMap { $0.hasGain ? .gain($0.name, 1) : nil }
        case .quieter: return node.flatMap { $0.hasGain ? .gain($0.name, -1) : nil }
        case nil: break
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
        case .help: keys.overlay = .help
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
        let nodes = listed
        guard !nodes.isEmpty else { return }
        let place = nodes.firstIndex { $0.name == keys.selected }
        let next = place.map { $0 + step } ?? (step > 0 ? 0 : nodes.count - 1)
        keys.selected = nodes[min(max(next, 0), nodes.count - 1)].name
    }

    private mutating func look(_ change: (inout NodeFace) -> Void) {
        let chosen = nodes.firstIndex { $0.name == keys.selected && $0.style != nil }
        if let index = chosen ?? nodes.firstIndex(where: { $0.style != nil }) { change(&nodes[index]) }
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
