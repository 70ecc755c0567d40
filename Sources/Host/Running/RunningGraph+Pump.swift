// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import NodeKit

/// What happens regularly beside the audio, and how it ends.
extension RunningGraph {
    /// From now on a thread of its own pumps. [control]
    public func startPumping() {
        if !isDriven { losses.dropouts.stops.begin() }
        pumping.start { [weak self] in
            guard let self else { return nil }
            pump()
            rounds.wrappingAdd(1, ordering: .relaxed)
            let format = driver.info
            let period = Self.pumpPeriod(
                block: format.block, rate: format.rate,
                isChanging ? .changing : bus.givesFrames ? .read : .resting)
            losses.dropouts.isLookedAt(in: period)
            return period
        }
    }

    /// Everything regular that is not audio: lets nodes publish, tells what is to be told, frees what the audio thread gave
    /// back. It waits for no node: what nodes do happens on other threads, but in an offline run, where it happens here.
    /// [control]
    public func pump() {
        round.locked {
            time.position.store(engine.counters.position, ordering: .relaxed)
            let nodes = nodes
            if isDriven { drive(nodes) } else { polls.begin(nodes) }
            ControlThreads.shared.relieve()
            for node in nodes { node.expireActions() }
            context.deviceLatency.store(driver.outputLatency, ordering: .relaxed)
            while let notice = engine.nextNotice() { publish(notice) }
            if nodes.reduce(false, { $1.takeLatencyChange() || $0 }) { state.withLock { $0.latencyChanged = true } }
            for (node, count) in router.takeRefused().sorted(by: { $0.key < $1.key }) {
                reports.count(node, "refused messages", UInt64(count))
                tell(HostEvent.refused, node: node, ["count": .integer(Int64(count))])
            }
            losses.tell()
            guards.look(at: nodes)
            tellTurned()
            if !isDriven { levels.look(at: nodes) }
            advance()
            ports.setHelpers(engine.threads - 1)
            resumeWaiters()
        }
    }

    /// Offline: does what waits for the nodes, and what that sends to others, up to a bound.
    private func drive(_ nodes: [NodeInstance]) {
        for node in nodes where node.wantsPoll { node.poll() }
        var rest = 4096
        while rest > 0, !nodes.allSatisfy(\.hasNoWork) {
            let before = rest
            for node in nodes { rest -= node.drain(limit: min(1024, rest)) }
            // What is there is somebody else's to do.
            if rest == before { return }
        }
    }

    /// Waits until no change is under way. [any]
    func settled() async {
        while isChanging {
            await withCheckedContinuation { waiter in state.withLock { $0.waiters.append(waiter) } }
        }
    }

    private func resumeWaiters() {
        guard !isChanging else { return }
        let waiting = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiting { waiter.resume() }
    }

    private func publish(_ notice: vg_notice) {
        let instance = nodes.first { $0.number == notice.node }
        // The node's latency is asked for on its queue; what comes of it is seen in a later round.
        if notice.kind == VG_NOTICE_LATENCY { instance?.post("latency") {} }
        let text = notice.text.map { String(cString: $0) } ?? ""
        let declared =
            switch notice.kind {
            case VG_NOTICE_LOG: HostEvent.log
            case VG_NOTICE_LATENCY: HostEvent.latency
            default: instance?.declarations.events.first { $0.name == text }
            }
        guard let declared else { return reports.count(instance?.name ?? "?", "undeclared events", 1) }
        bus.publish(
            .event(
                time.event(
                    declared, node: instance?.name, at: notice.position,
                    fields: ["text": .string(text), "value": .number(notice.value)])))
    }

    /// Whether no node has anything of its own left to play and no message waits. [control]
    public var isIdle: Bool { nodes.allSatisfy { isDriven ? $0.askIdle() : $0.isIdle } }

    /// Offline: returns when every node can give `frames` without a gap. [control]
    public func wait(frames: Int) { for node in nodes { node.wait(frames: frames) } }

    /// Ends the audio and lets the nodes finish what they hold, for a bounded time: what they tell of it is on the bus when
    /// this returns. [control]
    public func stop() {
        let isFirst = publishing.locked {
            state.withLock { state in
                defer { state.stopped = true }
                return !state.stopped
            }
        }
        guard isFirst else { return }
        pumping.stop()
        driver.stop()
        pump()
        losses.tell(all: true)
        losses.dropouts.stops.end()
        let ending = nodes + state.withLock(\.leaving)
        finish(ending)
        pump()
        round.locked { tellTurned(all: true) }
        resumeWaiters()
        state.withLock { $0.leaving = [] }
        router.disconnect()
        context.calls.disconnect()
        bus.forgetAll()
    }

    /// Lets nodes finish what they hold, and send what is left to one another, and ends them. One that takes longer than
    /// all may together is told of, and left to itself.
    private func finish(_ nodes: [NodeInstance]) {
        if isDriven {
            for node in nodes { node.finish() }
            pump()
            for node in nodes { node.deactivate() }
            return
        }
        let deadline = monotonicSeconds() + Double(VG_FINISH_SECONDS)
        for node in nodes { node.post("finish") { node.finishNow() } }
        while !nodes.allSatisfy(\.isFinished), monotonicSeconds() < deadline {
            pump()
            usleep(2000)
        }
        for node in nodes where !node.deactivate(patience: max(0.05, deadline - monotonicSeconds())) {
            reports.set(node.name, .failed("it has not finished: \(node.busy.message)"))
        }
    }
}
