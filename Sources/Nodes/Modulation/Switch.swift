// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Something to press: for a program, a key bound to `voicegraph ctl do`, or a MIDI key or pedal.
final class Switch: AudioNode {
    static let calls: NodeCalls = [.poll, .perform]
    static let descriptor = NodeDescriptor(
        "switch", "a control that is pressed: push to talk, or on and off",
        doc: """
            The control output `on` is 1 while it is pressed: by the actions press and release, or by a note or a pedal \
            at the MIDI input. With mode = "toggle" each press turns it on or off, and a release does nothing. Link it \
            to `gate` of a transcribe node that is gated, to `control` of a duck, or to a parameter; `off` is the \
            opposite, for `mute` of a vad.
            """,
        ports: [
            Port(VG_MIDI_PORT, VG_INPUT, "midi", doc: "notes and pedals that press it"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "on", doc: "1 while it is on, else 0"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "off", doc: "1 while it is off, else 0", bus: "off", defaultValue: 1),
        ],
        settings: [mode, on, note, controller],
        actions: [
            Action("press", "turn it on, or with mode = \"toggle\" over"),
            Action("release", "turn it off, unless mode is \"toggle\""),
            Action("toggle", "turn it over in any mode", results: [Field("on", VG_BOOL, "whether it is on now")]),
        ],
        events: [
            EventType(
                stateEvent, "whether it is on", fields: [Field("on", VG_BOOL, "whether it is")], retained: true)
        ],
        flags: VG_LIGHT, process: { Switch.process($0, $1, $2) })
    private static let stateEvent = "switch.state"

    private static let mode = Key.choice("mode", "on while it is held, or on and off in turn", default: Mode.hold)
    private static let on = Key.flag("on", "how it begins", default: false)
    private static let note = Key.integer("note", "the MIDI note that presses it; every one without it", in: 0...127)
    private static let controller = Key.integer(
        "controller", "a MIDI controller that presses it from 64 on, as the pedal 64", in: 0...119)

    private enum Mode: String, CaseIterable {
        case hold, toggle
    }

    struct State: ~Copyable {
        let isOn: Atomic<Bool>
        /// The frame of the graph after the newest block.
        let now = Atomic<UInt64>(0)
        /// Raised by every change, also by one that was undone before anybody looked.
        let changes = Atomic<Int>(0)

        init(_ isOn: Bool) { self.isOn = Atomic(isOn) }

        /// Presses it or lets it go. [any]
        @_noLocks
        borrowing func take(isPress: Bool, toggles: Bool) {
            if toggles, isPress {
                _ = isOn.logicalXor(true, ordering: .relaxed)
            } else if !toggles {
                isOn.store(isPress, ordering: .relaxed)
            }
            changes.wrappingAdd(1, ordering: .releasing)
        }
    }

    struct Processor: BitwiseCopyable {
        let shared: SharedCell<State>
        let toggles: Bool
        /// -1: any, or none.
        let note, controller: Int
        /// Whether the controller is down, which repeats its value.
        var isPedalDown = false
    }

    private let host: NodeHost
    private let toggles: Bool
    private let note, controller: Int
    private let shared: Shared<State>
    private var told = -1

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        toggles = try settings[Self.mode] == .toggle
        controller = try settings[Self.controller] ?? -1
        // A controller alone: then notes do not press it.
        note = try settings[Self.note] ?? (controller < 0 ? -1 : .max)
        let isOn = try settings[Self.on]
        shared = Shared(State(isOn))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(shared: shared.cell, toggles: toggles, note: note, controller: controller)
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        shared.value.take(isPress: action != "release", toggles: toggles || action == "toggle")
        if action == "toggle" { call.put("on", .bool(shared.value.isOn.load(ordering: .relaxed))) }
        poll()
    }

    func poll() {
        let changes = shared.value.changes.load(ordering: .acquiring)
        if changes == told { return }
        told = changes
        let isOn = shared.value.isOn.load(ordering: .relaxed)
        host.publish(Self.stateEvent, [("on", .bool(isOn))], at: shared.value.now.load(ordering: .relaxed))
    }
}

extension Switch {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let shared = state.shared
        let midi = block.midiInput(0)
        var wasOn = false
        for index in 0..<midi.count {
            guard midi.size(index) == 3 else { continue }
            let bytes = (midi.byte(index, 0), midi.byte(index, 1), midi.byte(index, 2))
            var press: Bool?
            switch bytes.0 & 0xF0 {
            case 0x80, 0x90:
                // A note on with velocity 0 is a note off.
                let isMine = state.note == -1 || state.note == Int(bytes.1)
                if isMine { press = bytes.0 & 0xF0 == 0x90 && bytes.2 > 0 }
            case 0xB0 where state.controller == Int(bytes.1):
                let isDown = bytes.2 >= 64
                if isDown != state.isPedalDown { press = isDown }
                state.isPedalDown = isDown
            default: break
            }
            if let press { shared.value.take(isPress: press, toggles: state.toggles) }
            wasOn = wasOn || shared.value.isOn.load(ordering: .relaxed)
        }
        shared.value.now.store(block.position + UInt64(block.frames), ordering: .relaxed)
        // What was pressed and let go within a block was on for that block.
        let isOn = wasOn || shared.value.isOn.load(ordering: .relaxed)
        block.setControl(0, isOn ? 1 : 0)
        block.setControl(1, isOn ? 0 : 1)
    }
}
