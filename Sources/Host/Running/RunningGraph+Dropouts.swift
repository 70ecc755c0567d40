// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit

/// What went wrong in time, and why.
extension RunningGraph {
    /// Publishes the dropouts that can be judged now, by default those of a tenth of a second ago: each as `dropout`,
    /// and what the driver reported of them as `xrun`. [control]
    func tellDropouts(all: Bool = false) {
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
        bus.publish(.event(time.event(kind, node: dropout.nodes.first, at: position, fields: fields)))
    }
}
