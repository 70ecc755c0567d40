// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import GraphFile
import NodeKit

/// What a driver knows of a graph: its ports, how late they are, and how many threads help.
final class DriverPorts: Sendable {
    private struct State {
        /// What the driver gave for ports, by name.
        var handles: [String: DriverHandle] = [:]
        /// Threads that help the audio thread.
        var helpers = 0
        /// Its latencies, and the number of the schedule whose they are.
        var routes: [LatencyRoute]?
        var schedule: Int?
    }

    private let driver: any Driver
    private let state = Lock(State())

    init(_ driver: any Driver) { self.driver = driver }

    /// Asks for ports. [control]
    func register(_ ports: [ExternalPort]) throws(Fault) {
        do throws(DriverError) {
            let handles = try driver.register(ports).map(DriverHandle.init)
            state.withLock { for (port, handle) in zip(ports, handles) { $0.handles[port.name] = handle } }
        } catch { throw error.fault }
    }

    /// Gives a schedule what the driver gave for its ports. [control]
    func fill(_ schedule: Schedule) {
        let handles = state.withLock { $0.handles }
        schedule.setHandles(schedule.externals.map { handles[$0.name]?.pointer })
    }

    /// Gives back the ports of nodes that have left, but for those that are `wanted`, by name. [control]
    func retire(_ leaving: [NodeInstance], but wanted: Set<String>) {
        let placed = state.withLock(\.handles)
        let ports = leaving.filter(\.isExternal).flatMap { node in
            ResolvedGraph.Node(instance: node, description: NodeDescription(name: node.name, type: node.typeName))
                .externals
        }.filter { !wanted.contains($0.name) && placed[$0.name] != nil }
        guard !ports.isEmpty else { return }
        driver.retire(ports)
        state.withLock { for port in ports { $0.handles[port.name] = nil } }
    }

    /// Lets so many threads help. [control]
    func setHelpers(_ helpers: Int) {
        let isNews = state.withLock { state in
            defer { state.helpers = helpers }
            return state.helpers != helpers
        }
        if isNews { driver.setHelpers(helpers) }
    }

    /// Whether the driver does not know the latencies of a schedule. [control]
    func isNews(_ schedule: Schedule) -> Bool { state.withLock { $0.schedule != schedule.number } }

    /// Tells of latencies if they are not what they were. [control]
    func tellLatencies(of schedule: Schedule) {
        let routes = schedule.routes
        let isNews = state.withLock { state in
            defer { (state.schedule, state.routes) = (schedule.number, routes) }
            return state.routes != routes
        }
        if isNews { driver.setLatencies(routes) }
    }
}

/// What a driver gave for a port.
private struct DriverHandle: @unchecked Sendable {
    // Sendable: only passed on.
    var pointer: UnsafeMutableRawPointer?
    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
