// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import NodeKit

/// Tells what was lost: blocks that came too late, with the cause, and MIDI events.
final class LossWatch: Sendable {
    /// What is known of dropouts.
    let dropouts: DropoutWatch
    private let engine: Engine
    private let driver: any Driver
    private let context: GraphContext
    /// MIDI events that were told to be lost, and when that was.
    private let midi = Lock<(count: UInt64, at: Double)>((0, -.infinity))

    init(_ engine: Engine, _ driver: any Driver, _ context: GraphContext, _ clock: TickClock) {
        (self.engine, self.driver, self.context) = (engine, driver, context)
        dropouts = DropoutWatch(clock)
    }

    /// Tells what can be told now, or `all` of it. [control]
    func tell(all: Bool = false) {
        tellDropouts(all: all)
        tellMIDI(all: all)
    }

    /// Publishes the dropouts that can be judged now, by default those of a tenth of a second ago: each as `dropout`,
    /// and what the driver reported of them as `xrun`.
    private func tellDropouts(all: Bool) {
        let info = driver.info
        guard info.kind != .offline else { return engine.collect() }
        let hasServer = !info.server.isEmpty
        let verdicts = dropouts.check(
            engine, thread: driver.audioThread, hasServer: hasServer, others: driver.otherPrograms, all: all)
        for verdict in verdicts {
            let dropout = verdict.dropout
            for delay in verdict.delays.prefix(16) {
                let fields: [String: SettingValue] = [
                    "delay": .number(delay), "cause": .string(dropout.cause.rawValue),
                ]
                tell(HostEvent.xrun, dropout, fields)
            }
            tell(HostEvent.dropout, dropout, dropout.fields)
        }
    }

    private func tell(_ kind: EventType, _ dropout: Dropout, _ fields: [String: SettingValue]) {
        let position = dropout.position == 0 ? nil : dropout.position
        context.tell(kind, node: dropout.nodes.first, at: position, fields)
    }

    /// Tells of MIDI that was lost, once a second.
    private func tellMIDI(all: Bool) {
        let lost = engine.counters.lostMIDI
        let news = midi.withLock { told -> UInt64 in
            guard lost > told.count, all || monotonicSeconds() - told.at >= 1 else { return 0 }
            defer { told = (lost, monotonicSeconds()) }
            return lost - told.count
        }
        if news > 0 { context.tell(HostEvent.midiLost, ["count": .integer(Int64(clamping: news))]) }
    }
}
