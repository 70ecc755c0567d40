// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A shared object that is loaded when it is first needed, so that nothing needs it to be there. It stays loaded unless it is
/// closed.
public struct Library: @unchecked Sendable {
    // Sendable: the handle never changes, and the loader's functions may be called from any thread.
    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Loads the one of this name or path, as dlopen takes it. The error says why not in the loader's words. [control]
    public init(_ name: String, flags: Int32 = RTLD_NOW | RTLD_LOCAL) throws(Fault) {
        guard let handle = dlopen(name, flags) else {
            throw Fault(dlerror().map { String(cString: $0) } ?? "the loader gave no reason")
        }
        self.handle = handle
        self.name = name
    }

    /// Loads the first of `names` that is there. The error names the Debian package to install. [control]
    public init(_ names: [String], package: String) throws(Fault) {
        var reason = ""
        for name in names {
            do throws(Fault) {
                self = try Library(name)
                return
            } catch { reason = error.message }
        }
        throw Fault("cannot load \(names[0]): \(reason)", hint: "apt install \(package)")
    }

    /// Where a symbol of it is; nil: it has none of that name. [control]
    public func address(of symbol: String) -> UnsafeMutableRawPointer? { dlsym(handle, symbol) }

    /// A function by its name, as the C function type that the caller knows it to be. [control]
    public func function<F>(_ symbol: String, as type: F.Type = F.self) throws(Fault) -> F {
        guard let address = address(of: symbol) else { throw Fault("\(name) has no function \(symbol)") }
        return unsafeBitCast(address, to: F.self)
    }

    /// Gives it back: where nothing else has loaded it, its functions are gone. [control]
    public func close() { dlclose(handle) }
}
