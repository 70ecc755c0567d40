// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A signal as people know it: "SIGSEGV". [any]
package func signalName(_ number: Int32) -> String {
    let names: [Int32: String] = [
        SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL",
        SIGTRAP: "SIGTRAP", SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGALRM: "SIGALRM", SIGPIPE: "SIGPIPE",
        SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT",
    ]
    return names[number] ?? "signal \(number)"
}

/// The environment for a child that is this program again and runs somebody's plugin, as C wants it: free every text.
/// A backtrace of this program would say nothing of the plugin, take seconds, and hide what the plugin said, so that it
/// is off. [control]
package func environmentWithoutBacktrace() -> [UnsafeMutablePointer<CChar>?] {
    let backtrace = "SWIFT_BACKTRACE="
    var variables: [UnsafeMutablePointer<CChar>?] = []
    var entry = environ
    while let variable = entry.pointee {
        if strncmp(variable, backtrace, backtrace.utf8.count) != 0 { variables.append(strdup(variable)) }
        entry += 1
    }
    return variables + [strdup(backtrace + "enable=no"), nil]
}
