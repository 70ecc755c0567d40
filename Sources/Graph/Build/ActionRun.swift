// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// What came of an action: its results by name, or why it was not done.
public typealias ActionResult = Result<[String: SettingValue], NodeError>

/// One call of an action, from the time when it was asked for until it has ended, and what the node calls with it.
final class ActionRun: @unchecked Sendable {
    // Sendable: `state` guards what changes; the struct in C is written once.

    private struct State {
        var results: [String: SettingValue] = [:]
        /// Who is told; nil: was told.
        var done: (@Sendable (ActionResult) -> Void)?
        var hasBegun = false
    }

    let action: String
    /// When it is given up, by the counter of `vg_nanoseconds`.
    let deadline: UInt64
    let call: UnsafeMutablePointer<vg_call>
    private let state: Lock<State>
    /// Called when the node needs the struct no more.
    private let ended: @Sendable (ActionRun) -> Void

    init(
        _ action: String, deadline: UInt64, ended: @escaping @Sendable (ActionRun) -> Void,
        done: @escaping @Sendable (ActionResult) -> Void
    ) {
        self.action = action
        self.deadline = deadline
        self.ended = ended
        state = Lock(State(done: done))
        call = .allocate(capacity: 1)
        call.initialize(
            to: vg_call(
                size: UInt32(MemoryLayout<vg_call>.size), handle: nil,
                put: { handle, name, value in
                    guard let name, let value else { return }
                    ActionRun.of(handle).put(String(cString: name), SettingValue(value.pointee))
                },
                finish: { handle, error in
                    let run = ActionRun.of(handle)
                    run.finish(error.map { .failure(NodeError($0.pointee)) })
                    run.ended(run)
                }))
        call.pointee.handle = Unmanaged.passUnretained(self).toOpaque()  // the instance keeps it while the node has it
    }

    deinit { call.deallocate() }

    private static func of(_ handle: UnsafeMutableRawPointer?) -> ActionRun {
        Unmanaged<ActionRun>.fromOpaque(handle!).takeUnretainedValue()
    }

    private func put(_ name: String, _ value: SettingValue) { state.withLock { $0.results[name] = value } }

    /// The node begins with it; false: it was given up before. [control]
    func begin() -> Bool {
        state.withLock { state in
            state.hasBegun = true
            return state.done != nil
        }
    }

    /// Whether the node has begun with it. [any]
    var hasBegun: Bool { state.withLock(\.hasBegun) }

    /// Tells whoever asked, once; nil: it is done. [any]
    func finish(_ failure: ActionResult? = nil) {
        let (done, results) = state.withLock { state in
            defer { state.done = nil }
            return (state.done, state.results)
        }
        done?(failure ?? .success(results))
    }
}
