// SPDX-License-Identifier: Apache-2.0
import NodeKit

// Made from what the types of nodes declare; a test compares the two, and says how to make it again.

/// `agent`: answers what a user says. Takes texts, as `transcribe` gives them, and gives replies, sentence by
/// sentence, as `tts` speaks them: all of a reply have its item. What the user says while a reply is made or spoken
/// interrupts it; with `tts.heard` linked to `heard`, only what was heard of it is remembered. The rules answer
/// without anything being installed.
public struct Agent: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// who answers
    public enum Backend: String, Sendable, CaseIterable {
        case rules
        case command
        case openai
    }

    /// what interrupts a reply that is heard: any speech; what has other words than `backchannel`; never, but for
    /// stop words
    public enum Interrupt: String, Sendable, CaseIterable {
        case any
        case words
        case never
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `backend`: who answers; "rules" without it
    /// - `rules`: of the backend rules: a file of patterns and replies; without it a few are there
    /// - `allow`: actions of other nodes that replies may name or a model may ask for, as NODE.ACTION; [] without it
    /// - `actionTime`: how long such an action may take; in s, 0.1 to 3600, 10 without it
    /// - `historyTurns`: how many of the user's items are remembered; 1 to 1000, 20 without it
    /// - `historyCharacters`: how much is remembered in all, in bytes of UTF-8; 100 to 10000000, 16000 without it
    /// - `longestAnswer`: a reply that is longer, in bytes of UTF-8, fails; 100 to 10000000, 100000 without it
    /// - `interrupt`: what interrupts a reply that is heard: any speech; what has other words than `backchannel`;
    ///   never, but for stop words; "words" without it
    /// - `backchannel`: what interrupts nothing when it is all that is said, alone or several of them; ["mhm",
    ///   "mm-hmm", "mm", "uh-huh", "hm", "hmm", "yeah", "yep", "ok", "okay", "right", "alright", "sure", "oh", "ah",
    ///   "uh", "um", "wow", "cool", "nice", "great", "i see", "got it", "of course", "all right"] without it
    /// - `stopWords`: what always stops a reply that is heard, and is not answered; ["stop", "stop it", "stop that",
    ///   "stop talking", "stop speaking", "be quiet", "quiet", "shut up", "silence", "enough", "that's enough",
    ///   "never mind", "cancel"] without it
    /// - `user`: who types, for whoever keeps what was said; "you" without it
    /// - `sayFailed`: what is said, with the reason behind it, when an action fails and the reply does not say so;
    ///   empty: nothing; "That did not work" without it
    /// - `labelThinking`: the label of the state thinking; "Thinking..." without it
    /// - `labelWaiting`: the label of the state waiting; "Speak to interrupt" without it
    /// - `watchdog`: by how much a state may outlive what it tells of; in s, 0.1 to 600, 10 without it
    /// - `command`: of the backend command: a program and its arguments, or a line for the shell; it reads what was
    ///   said from its standard input, a line each, and writes lines
    /// - `perTurn`: run the command once for each item; else once, and a blank line ends a reply; false without it
    /// - `timeLimit`: how long the command may take for a reply; in s, 0.1 to 3600, 30 without it
    /// - `url`: of the backend openai: where /chat/completions is, as in https://HOST/v1
    /// - `model`: as the endpoint calls it
    /// - `system`: what the model is told before anything is said
    /// - `temperature`: how freely the model chooses; without it, as the endpoint has it; 0 to 2
    /// - `keyEnv`: the variable that holds the key
    /// - `keyFile`: the file that holds the key; nobody else may read it
    /// - `connectTime`: how long connecting may take; in s, 0.1 to 600, 5 without it
    /// - `tokenTime`: how long it may take from there to the first word; in s, 0.1 to 3600, 30 without it
    /// - `silenceTime`: how long nothing may come within an answer; in s, 0.1 to 3600, 15 without it
    /// - `retries`: how often a request is made again when the endpoint cannot be reached or is busy; 0 to 20, 3
    ///   without it
    /// - `retryWait`: before the first retry; it doubles each time; in s, 0.01 to 60, 0.5 without it
    public init(
        _ called: String? = nil, backend: Backend? = nil, rules: String? = nil, allow: [String]? = nil,
        actionTime: Double? = nil, historyTurns: Int? = nil, historyCharacters: Int? = nil, longestAnswer: Int? = nil,
        interrupt: Interrupt? = nil, backchannel: [String]? = nil, stopWords: [String]? = nil, user: String? = nil,
        sayFailed: String? = nil, labelThinking: String? = nil, labelWaiting: String? = nil, watchdog: Double? = nil,
        command: [String]? = nil, perTurn: Bool? = nil, timeLimit: Double? = nil, url: String? = nil,
        model: String? = nil, system: String? = nil, temperature: Double? = nil, keyEnv: String? = nil,
        keyFile: String? = nil, connectTime: Double? = nil, tokenTime: Double? = nil, silenceTime: Double? = nil,
        retries: Int? = nil, retryWait: Double? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "agent",
            [
                ("backend", said(backend)), ("rules", said(rules)), ("allow", said(allow)),
                ("action_time", said(actionTime)), ("history_turns", said(historyTurns)),
                ("history_characters", said(historyCharacters)), ("longest_answer", said(longestAnswer)),
                ("interrupt", said(interrupt)), ("backchannel", said(backchannel)), ("stop_words", said(stopWords)),
                ("user", said(user)), ("say_failed", said(sayFailed)), ("label_thinking", said(labelThinking)),
                ("label_waiting", said(labelWaiting)), ("watchdog", said(watchdog)), ("command", said(command)),
                ("per_turn", said(perTurn)), ("time_limit", said(timeLimit)), ("url", said(url)),
                ("model", said(model)), ("system", said(system)), ("temperature", said(temperature)),
                ("key_env", said(keyEnv)), ("key_file", said(keyFile)), ("connect_time", said(connectTime)),
                ("token_time", said(tokenTime)), ("silence_time", said(silenceTime)), ("retries", said(retries)),
                ("retry_wait", said(retryWait)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `lfo`: moves a parameter up and down: sine, triangle, saw, square, random. Gives offset + depth * wave, where the
/// wave goes from -1 to 1. Link its output to a parameter, and give offset and depth in the unit of that. With beats,
/// a cycle lasts that many beats of the transport while its tempo is known, and begins with the beats while it rolls.
public struct LFO: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// the form of a cycle
    public enum Wave: String, Sendable, CaseIterable {
        case sine
        case triangle
        case saw
        case square
        case random
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `rate`: cycles a second; in Hz, 0.001 to 100, 1 without it
    /// - `depth`: how far it moves to each side of offset; -96000 to 96000, 1 without it
    /// - `offset`: the middle; -96000 to 96000, 0 without it
    /// - `phase`: how far ahead in its cycle it is; in degrees, 0 to 360, 0 without it
    /// - `wave`: the form of a cycle; "sine" without it
    /// - `beats`: beats of the transport that a cycle lasts; 0: it follows rate; 0 to 1024, 0 without it
    /// - `seed`: of random: another seed, other values; 1 without it
    public init(
        _ called: String? = nil, rate: Double? = nil, depth: Double? = nil, offset: Double? = nil, phase: Double? = nil,
        wave: Wave? = nil, beats: Double? = nil, seed: Int? = nil, inFile: String = #fileID, atLine: UInt = #line,
        atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "lfo",
            [
                ("rate", said(rate)), ("depth", said(depth)), ("offset", said(offset)), ("phase", said(phase)),
                ("wave", said(wave)), ("beats", said(beats)), ("seed", said(seed)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `lv2`: an LV2 plugin. Audio ports are the node's audio ports by symbol; those of side chains and other groups are
/// side buses, CV ports the bus cv. Control inputs are parameters, control outputs control ports, and atom ports for
/// MIDI midi ports. While it plays, presets are loaded without a click, and properties are set and asked for.
public struct LV2: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `plugin`: URI, or unique name: the URI's last part or the plugin's own, any capitals
    /// - `params`: port symbol or label -> number, boolean or label of a scale point; property -> path, text or
    ///   number
    /// - `preset`: label or URI of a preset, applied before params
    /// - `trust`: run the plugin without having tried it in a process of its own
    /// - `state`: saved state: Turtle file, or folder with state.ttl; applied after preset. A folder is saved to as
    ///   well
    public init(
        _ called: String? = nil, plugin: String, params: SettingValue? = nil, preset: String? = nil, trust: Bool? = nil,
        state: String? = nil, inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "lv2",
            [
                ("plugin", said(plugin)), ("params", said(params)), ("preset", said(preset)), ("trust", said(trust)),
                ("state", said(state)),
            ], file: inFile, line: atLine, column: atColumn)
    }
}

/// `switch`: a control that is pressed: push to talk, or on and off. The control output `on` is 1 while it is
/// pressed: by the actions press and release, or by a note or a pedal at the MIDI input. With mode = "toggle" each
/// press turns it on or off, and a release does nothing. Link it to `gate` of a transcribe node that is gated, to
/// `control` of a duck, or to a parameter; `off` is the opposite, for `mute` of a vad.
public struct Switch: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// on while it is held, or on and off in turn
    public enum Mode: String, Sendable, CaseIterable {
        case hold
        case toggle
    }

    /// Describes a node, called as its type is where no name is given.
    ///
    /// - `mode`: on while it is held, or on and off in turn; "hold" without it
    /// - `on`: how it begins; false without it
    /// - `note`: the MIDI note that presses it; every one without it; 0 to 127
    /// - `controller`: a MIDI controller that presses it from 64 on, as the pedal 64; 0 to 119
    public init(
        _ called: String? = nil, mode: Mode? = nil, on: Bool? = nil, note: Int? = nil, controller: Int? = nil,
        inFile: String = #fileID, atLine: UInt = #line, atColumn: UInt = #column
    ) {
        node = PlacedNode(
            called, type: "switch",
            [("mode", said(mode)), ("on", said(on)), ("note", said(note)), ("controller", said(controller))],
            file: inFile, line: atLine, column: atColumn)
    }
}
