// SPDX-License-Identifier: Apache-2.0
import CNode

/// The call of an action while `Node.perform` works on it: takes the results. It is over when that returns.
public struct ActionCall {
    private let call: UnsafePointer<vg_call>
    private let state: UnsafeMutablePointer<Bool>

    init(_ call: UnsafePointer<vg_call>, isLater state: UnsafeMutablePointer<Bool>) {
        self.call = call
        self.state = state
    }

    /// Adds a field to the result. [control]
    public func put(_ name: String, _ value: SettingValue) { PendingCall(call).put(name, value) }

    /// The call does not end with `perform`, but by what is returned here: end it once, whatever happens. [control]
    public func later() -> PendingCall {
        state.pointee = true
        return PendingCall(call)
    }
}

/// The call of an action that is ended later, from any thread but the audio thread.
public struct PendingCall: @unchecked Sendable {
    // Sendable: the ABI promises that the functions are thread-safe and that the call is there until it was ended.
    private let call: UnsafePointer<vg_call>

    init(_ call: UnsafePointer<vg_call>) { self.call = call }

    /// Adds a field to the result. [any]
    public func put(_ name: String, _ value: SettingValue) {
        value.withCValue { call.pointee.put?(call.pointee.handle, name, $0) }
    }

    /// Ends the call: it is done. [any]
    public func finish() { call.pointee.finish?(call.pointee.handle, nil) }

    /// Ends the call: it cannot be done. [any]
    public func fail(_ error: NodeError) {
        var c = vg_error()
        error.copy(to: &c)
        call.pointee.finish?(call.pointee.handle, &c)
    }
}

extension NodeError {
    /// Fills the struct in C; each text is cut between two code points.
    package func copy(to error: inout vg_error) {
        NodeKit.copy(message, &error.message)
        NodeKit.copy(hint, &error.hint)
        NodeKit.copy(key.isEmpty && !kind.isEmpty ? ":" + kind : key, &error.key)
    }

    /// Reads the struct in C.
    public init(_ error: vg_error) {
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let message = text(error.message)
        let key = text(error.key)
        let isKind = key.hasPrefix(":")
        self.init(
            message.isEmpty ? "failed without a reason" : message, hint: text(error.hint), key: isKind ? "" : key,
            kind: isKind ? String(key.dropFirst()) : "")
    }
}

/// Copies text into a fixed C array, cut between two code points, always terminated.
private func copy<T>(_ text: String, _ field: inout T) {
    withUnsafeMutableBytes(of: &field) { bytes in
        let whole = Array(text.utf8)
        var count = min(whole.count, bytes.count - 1)
        // A byte 10xxxxxx goes on with the code point before it.
        if count < whole.count { while count > 0, whole[count] & 0xC0 == 0x80 { count -= 1 } }
        bytes.copyBytes(from: whole[..<count])
        bytes[count] = 0
    }
}
