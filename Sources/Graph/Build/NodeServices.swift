// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc
import NodeKit
import System

/// What the host does for a node, behind the C boundary. The closures are called from any thread but the audio
/// thread; C data is valid during the call only.
public struct NodeServices: Sendable {
    /// Takes a log line.
    public var log: (@Sendable (vg_log_level, String) -> Void)?
    /// Takes an event.
    public var publish: (@Sendable (UnsafePointer<vg_event>) -> Void)?
    /// Takes a message for the links of a message output (index among those); false: a queue was full.
    public var send: (@Sendable (Int, Message) -> Bool)?

    /// Describes services; what is nil is ignored.
    public init(
        log: (@Sendable (vg_log_level, String) -> Void)? = nil,
        publish: (@Sendable (UnsafePointer<vg_event>) -> Void)? = nil,
        send: (@Sendable (Int, Message) -> Bool)? = nil
    ) {
        self.log = log
        self.publish = publish
        self.send = send
    }
}

/// The `vg_host` of one node and what it points to.
final class HostMemory {
    /// Turns a parameter of the node: place, value, at once.
    typealias SetParameter = @Sendable (Int, Float, Bool) -> Bool

    let host: UnsafeMutablePointer<vg_host>
    private let name: UnsafeMutablePointer<CChar>
    private let folder: UnsafeMutablePointer<CChar>
    private let services: Unmanaged<ServicesBox>

    init(name: String, baseFolder: String, services: NodeServices) {
        self.name = strdup(name)
        folder = strdup(baseFolder)
        self.services = .passRetained(ServicesBox(services))
        host = .allocate(capacity: 1)
        host.initialize(
            to: vg_host(
                abi: UInt32(VG_ABI_VERSION), size: UInt32(MemoryLayout<vg_host>.size),
                handle: self.services.toOpaque(), node_name: UnsafePointer(self.name),
                base_folder: UnsafePointer(folder),
                log: { handle, level, text in
                    if let text { ServicesBox.of(handle).log?(level, String(cString: text)) }
                },
                publish: { handle, event in
                    if let event { ServicesBox.of(handle).publish?(event) }
                },
                send: { handle, port, message in
                    guard let message, let send = ServicesBox.of(handle).send else { return false }
                    return send(Int(port), Message(message.pointee))
                },
                set_parameter: { handle, parameter, value, atOnce in
                    ServicesBox.setParameter(handle)?(Int(parameter), value, atOnce) ?? false
                }))
    }

    /// Whoever runs the node gives it what turns its parameters; nil: nobody runs it.
    func set(setParameter: SetParameter?) {
        services._withUnsafeGuaranteedRef { $0.setter.withLock { $0.setParameter = setParameter } }
    }

    deinit {
        host.deallocate()
        services.release()
        free(name)
        free(folder)
    }
}

private final class ServicesBox {
    let services: NodeServices
    // In a structure: a function that is itself the value of a lock is wrapped once more by each look at it.
    struct Setter {
        var setParameter: HostMemory.SetParameter?
    }

    let setter = Lock(Setter())
    init(_ services: NodeServices) { self.services = services }

    static func of(_ handle: UnsafeMutableRawPointer?) -> NodeServices {
        Unmanaged<ServicesBox>.fromOpaque(handle!).takeUnretainedValue().services
    }

    static func setParameter(_ handle: UnsafeMutableRawPointer?) -> HostMemory.SetParameter? {
        Unmanaged<ServicesBox>.fromOpaque(handle!).takeUnretainedValue().setter.withLock { $0.setParameter }
    }
}
