// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Turns a checked graph, whose nodes are prepared, into a schedule.
public enum Compiler {
    /// Orders the nodes, plans sums and delays, assigns buffers, and lays the result out in memory. Nodes without a
    /// processor pass their audio through if they have as many inputs as outputs, or are silent. Delay lines that
    /// `previous`, made for the same rate, has too go on with what they hold; notes that sound through links that it had
    /// and `graph` has not end. Where there are sharers, and something for them to do at the same time, it is divided
    /// into tasks. [control]
    public static func compile(
        _ graph: ResolvedGraph, rate: Double, maxBlock: Int, handles: [UnsafeMutableRawPointer?] = [],
        after previous: Schedule? = nil, sharers: Sharers = Sharers(), verifying: Bool = isDebug
    ) throws(CompileError) -> Schedule {
        let plan = try plan(graph, sharers: sharers, verifying: verifying, after: previous)
        return Schedule(plan, graph, rate: rate, maxBlock: maxBlock, handles: handles, after: previous)
    }

    /// Everything up to memory.
    static func plan(
        _ graph: ResolvedGraph, sharers: Sharers = Sharers(), verifying: Bool, after previous: Schedule? = nil
    ) throws(CompileError) -> Plan {
        var plan = Planner.plan(graph, try order(graph), ended: graph.ended(of: previous?.soundingLinks ?? []))
        if let division = Division(plan, graph, sharers) {
            plan.steps = division.steps
            plan.tasks = division.tasks
            assignBuffers(&plan, division.tasks, graph)
        } else {
            assignBuffers(&plan) { graph.nodes[$0].instance.worksInPlace }
        }
        if verifying, let fault = verify(plan, graph) { throw .wrongPlan(fault) }
        return plan
    }

    /// Whether this is a debug build, which checks every plan.
    public static var isDebug: Bool {
        var debug = false
        assert({ debug = true }() == ())
        return debug
    }
}
