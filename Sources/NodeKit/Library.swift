// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A C library that is loaded when it is first needed, so that nothing needs it to be there. It stays loaded.
public final class Library: @unchecked Sendable {
    // Sendable: the handle never changes, and the loader's functions may be called from any thread.
    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Loads the first of `names` that is there, as dlopen takes it. The error names the Debian package to install.
    /// [control]
    public init(_ names: [String], package: String) throws(NodeError) {
        for name in names {
            if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
                self.handle = handle
                self.name = name
                return
            }
        }
        let reason = dlerror().map { String(cString: $0) } ?? "it is not there"
        throw NodeError("cannot load \(names[0]): \(reason)", hint: "apt install \(package)")
    }

    /// A function by its name, as the C function type that the caller knows it to be. [control]
    public func function<F>(_ symbol: String, as type: F.Type = F.self) throws(NodeError) -> F {
        guard let address = dlsym(handle, symbol) else { throw NodeError("\(name) has no function \(symbol)") }
        return unsafeBitCast(address, to: F.self)
    }
}
