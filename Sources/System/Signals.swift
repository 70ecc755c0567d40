// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A signal as people know it: "SIGSEGV". [any]
public func signalName(_ number: Int32) -> String {
    let names: [Int32: String] = [
        SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL",
        SIGTRAP: "SIGTRAP", SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGALRM: "SIGALRM", SIGPIPE: "SIGPIPE",
        SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT",
    ]
    return names[number] ?? "signal \(number)"
}

/// The signals that tell of a fault in the thread that gets them.
public let faultSignals: [Int32] = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT]

/// The signals that ask something of the whole program: all but faults and the kernel's limits.
func everyRequest() -> sigset_t {
    var set = sigset_t()
    sigfillset(&set)
    for signal in faultSignals + [SIGSYS, SIGXCPU, SIGXFSZ] { sigdelset(&set, signal) }
    return set
}

/// Lets all signals through on this thread, whatever mask it inherited. [any]
public func unblockSignals() {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
}
