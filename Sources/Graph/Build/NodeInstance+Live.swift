// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime

/// What is done to a node while it runs, beyond turning its parameters. Nothing here waits for the node.
extension NodeInstance {
    /// Puts a message into the node's inbox; false: that is full, which is counted. [any]
    public func post(_ message: Message, port: Int) -> Bool {
        queue.post(
            NodeQueue.Job(name: "a message", isMessage: true) { [self] in take(message, port) },
            urgent: message.isUrgent)
    }

    /// Messages that found the inbox full. [any]
    public var refusedMessages: UInt64 { queue.refused }

    /// Whether messages and actions wait until `drain` does them: in offline runs, so that every run is the same. [any]
    public var isDriven: Bool {
        get { queue.isDriven }
        set { queue.isDriven = newValue }
    }

    /// Does what waits, up to a bound; returns how much was done. In offline runs. [control]
    @discardableResult
    public func drain(limit: Int = 1024) -> Int { queue.drain(limit: limit) }

    /// Does `work` after what waits for the node already. [any]
    public func post(_ name: String, _ work: @escaping @Sendable () -> Void) {
        _ = queue.post(NodeQueue.Job(name: name, work: work))
    }

    /// Does an action, after what waits already unless it is urgent, and tells what came of it, on any thread. What is
    /// not done after `patience` seconds is told as that: it is given up if it has not begun. With `here` it is begun on
    /// this thread, as soon as no other call is made. [any; control with `here`]
    public func perform(
        _ action: String, _ arguments: [String: SettingValue] = [:], patience: Double = 10, here: Bool = false,
        done: @escaping @Sendable (ActionResult) -> Void
    ) {
        let declared: Action
        do throws(NodeError) {
            declared = try declarations.action(action, of: self)
            try declarations.check(arguments, of: declared)
        } catch {
            return done(.failure(error))
        }
        guard isPrepared else {
            return done(.failure(NodeError("it failed, so that it cannot do '\(action)'", hint: "see its health")))
        }
        let run = begin(action, patience, done)
        let job = NodeQueue.Job(name: "the action '\(action)'") { [self] in perform(run, arguments) }
        if here {
            _ = queue.run(job.name) { job.work() }
        } else {
            _ = queue.post(job, urgent: declared.isUrgent)
        }
    }

    private func begin(
        _ name: String, _ patience: Double, _ done: @escaping @Sendable (ActionResult) -> Void
    ) -> ActionRun {
        let run = ActionRun(
            name, deadline: nanoseconds(in: patience),
            // Without the node: a thread that ends a call must not be the one on which the node goes away.
            ended: { [calls] run in calls.withLock { $0[ObjectIdentifier(run)] = nil } }, done: done)
        calls.withLock { $0[ObjectIdentifier(run)] = run }
        return run
    }

    private func perform(_ run: ActionRun, _ arguments: [String: SettingValue]) {
        guard run.begin(), let perform = extensions.actions?.pointee.perform else { return forget(run) }
        var error = vg_error()
        let outcome = SettingValue.table(arguments).withCValue { perform(node, run.action, $0, run.call, &error) }
        refresh()
        if outcome == VG_LATER { return }
        run.finish(outcome == VG_DONE ? nil : .failure(NodeError(error)))
        forget(run)
    }

    private func forget(_ run: ActionRun) { calls.withLock { $0[ObjectIdentifier(run)] = nil } }

    /// Gives up actions and changes of settings whose time is over. Call it now and then. [any]
    public func expireActions() {
        let now = vg_nanoseconds()
        // One that the node has begun is kept: it will be ended yet.
        let late = calls.withLock { $0.values.filter { now > $0.deadline } }
        for run in late {
            let rest = run.hasBegun ? "it may be done yet" : "it was not begun, and is given up"
            run.finish(
                .failure(
                    NodeError(
                        "it does not answer '\(run.action)' in time",
                        hint: queue.occupation.map { "it is busy with \($0); \(rest)" } ?? rest)))
        }
    }

    /// Does an action, drains what waits where nobody else does, and waits for the end. [control]
    public func performAndWait(
        _ action: String, _ arguments: [String: SettingValue] = [:], patience: Double = 10
    ) throws(NodeError) -> [String: SettingValue] {
        let monitor = Monitor()
        nonisolated(unsafe) var answer: ActionResult?  // only with the monitor's lock
        perform(action, arguments, patience: patience) { result in
            monitor.locked { answer = result }
            monitor.signal()
        }
        while true {
            if queue.isDriven { drain() }
            let result = monitor.locked {
                if answer == nil { monitor.wait(milliseconds: 10) }
                return answer
            }
            if let result { return try result.get() }
            expireActions()
        }
    }

    /// Changes a live setting, after what waits already, and tells why not, if so; the value was checked. What is not done
    /// after `patience` seconds is told as that: it is given up if it has not begun. [any]
    public func set(
        _ setting: String, to value: SettingValue, patience: Double = 10, done: @escaping @Sendable (NodeError?) -> Void
    ) {
        let run = begin(setting, patience) { result in
            if case .failure(let error) = result { done(error) } else { done(nil) }
        }
        post("the setting '\(setting)'") { [self] in
            defer { forget(run) }
            guard run.begin() else { return }
            do throws(NodeError) { try change(setting, to: value) } catch { return run.finish(.failure(error)) }
            run.finish()
        }
    }

    /// The same on this thread, as soon as no other call is made. [control]
    public func setHere(_ setting: String, to value: SettingValue) throws(NodeError) {
        let failure: NodeError?? = queue.run("the setting '\(setting)'") {
            do throws(NodeError) { try change(setting, to: value) } catch { return error }
            return nil
        }
        if let failure = failure ?? nil { throw failure }
    }

    private func change(_ setting: String, to value: SettingValue) throws(NodeError) {
        guard let set = extensions.liveSettings?.pointee.set else {
            throw NodeError("'\(setting)' cannot be changed while it plays")
        }
        var error = vg_error()
        let isDone = value.withCValue { set(node, setting, $0, &error) }
        refresh()
        if !isDone { throw NodeError(error) }
    }

    /// Gives the node what turns its own parameters: place, value, whether at once, and from which frame on. It may be
    /// called during a call of the node. nil: nobody runs the node. [control]
    public func onSetParameter(_ setParameter: (@Sendable (Int, Float, Bool, UInt64) -> Bool)?) {
        hostMemory.set(setParameter: setParameter)
    }
}
