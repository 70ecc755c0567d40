// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import System

/// What lilv and serd print about data that they do not like, kept from the terminal. One thread at a time.
enum LilvMessages {
    /// Runs `body`, which reads data and calls no plugin, and adds what was said meanwhile, a line each. [control]
    static func collect<Result, Failure>(
        into lines: inout [String], _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try shared.lock.locked { () throws(Failure) -> Result in
            // What reads inside of what reads belongs to the latter.
            guard !shared.state.pointee.active else { return try body() }
            vg_lilv_messages_begin(shared.state)
            defer {
                vg_lilv_messages_end(shared.state)
                lines += text.split(separator: "\n").map(String.init)
            }
            return try body()
        }
    }

    /// As many as are worth a look.
    static let limit = 64

    private static var text: String {
        withUnsafeBytes(of: &shared.state.pointee.text) {
            String(decoding: $0.prefix(shared.state.pointee.length), as: UTF8.self)
        }
    }

    private static let shared = Shared()

    private struct Shared: @unchecked Sendable {
        // Sendable: `lock` guards the state.
        let lock = ReentrantLock()
        let state = UnsafeMutablePointer<vg_lilv_messages>.allocate(capacity: 1)

        init() { state.initialize(to: vg_lilv_messages()) }
    }
}
