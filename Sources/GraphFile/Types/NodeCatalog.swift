// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The node types that a graph may use, and those that are known but cannot be used here.
public struct NodeCatalog: @unchecked Sendable {
    // Sendable: the pointers lead to constants that live as long as the code that they describe.

    /// A type that can be used.
    public struct Entry {
        /// The type itself.
        public var type: UnsafePointer<vg_node_type>
        /// Where it came from: `builtIn`, `program` or the path of a shared object.
        public var origin: String

        /// Whether it is part of the host.
        public var isBuiltIn: Bool { origin == NodeCatalog.builtIn }
        /// Whether it lives in the program that has the host.
        public var isOfProgram: Bool { origin == NodeCatalog.program }
    }

    /// The origin of types that are part of the host, and of those that the program registers which has it.
    public static let (builtIn, program) = ("built in", "this program")

    /// Where plugins were looked for that are not the program's own, for who misses one.
    public var pluginFolders: [String] = []

    /// A type that is known but cannot be used.
    public struct Unavailable: Sendable, Equatable {
        /// Why not.
        public var reason: String
        /// The package to install; empty when none would help.
        public var package: String

        /// Describes why a type is missing.
        public init(reason: String, package: String = "") {
            self.reason = reason
            self.package = package
        }
    }

    /// How nodes are put into processes of their own.
    public struct Isolation: Sendable {
        /// The built-in types of which nodes may be isolated, since they run the code of others.
        public var builtIn: Set<String>
        /// The second form of a type, whose nodes live in a child process: one each, or one for all of them.
        public var isolated: @Sendable (Entry, _ isGroup: Bool) -> UnsafePointer<vg_node_type>?

        /// Describes how.
        public init(
            builtIn: Set<String>,
            isolated: @escaping @Sendable (Entry, _ isGroup: Bool) -> UnsafePointer<vg_node_type>?
        ) {
            self.builtIn = builtIn
            self.isolated = isolated
        }
    }

    /// Nil: this program isolates no nodes.
    public var isolation: Isolation?
    /// The usable types by name.
    public private(set) var types: [String: Entry] = [:]
    /// The known but unusable types by name; never one that is in `types`.
    public private(set) var unavailable: [String: Unavailable] = [:]

    /// An empty catalog.
    public init() {}

    /// A catalog of types from one origin; of two with one name the first counts.
    public init(_ types: [UnsafePointer<vg_node_type>], origin: String = builtIn) {
        for type in types { add(type, origin: origin) }
    }

    /// Adds a type; false, and nothing happens, when its name is taken.
    @discardableResult
    public mutating func add(_ type: UnsafePointer<vg_node_type>, origin: String) -> Bool {
        let name = String(cString: type.pointee.name)
        guard types[name] == nil else { return false }
        types[name] = Entry(type: type, origin: origin)
        unavailable[name] = nil
        return true
    }

    /// Records that a type cannot be used; ignored when it can.
    public mutating func addUnavailable(_ name: String, reason: String, package: String = "") {
        if types[name] == nil { unavailable[name] = Unavailable(reason: reason, package: package) }
    }

    /// Whether nodes of a type may be put into processes of their own: those that run the code of others.
    public func mayBeIsolated(_ name: String) -> Bool {
        guard let isolation, let entry = types[name] else { return false }
        return !entry.isBuiltIn && !entry.isOfProgram || isolation.builtIn.contains(name)
    }

    /// The usable types of which something can be kept, sorted.
    package var keepable: [String] {
        types.filter { [EventType]($0.value.type.pointee.events).contains { $0.role != nil } }.keys.sorted()
    }

    /// Every known name, sorted.
    public var names: [String] { (Array(types.keys) + Array(unavailable.keys)).sorted() }

    /// What a type says of itself; nil when there is no such type or its layout is broken.
    public func descriptor(_ name: String) -> NodeDescriptor? { types[name].flatMap { NodeDescriptor($0.type) } }
}

extension NodeDescriptor {
    /// Reads a description in C; nil when its layout is broken. The control half cannot be had back from it.
    public init?(_ type: UnsafePointer<vg_node_type>) {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        let c = type.pointee
        guard let ports = try? readPorts(c.default_layout), let parameters = try? readParameters(c.default_layout)
        else {
            return nil
        }
        let extensions = TypeExtensions(c)
        self.init(
            text(c.name), text(c.summary), doc: text(c.doc), ports: ports, parameters: parameters,
            settings: [Setting](c.settings), actions: extensions.actions.map { [Action]($0.pointee.actions) } ?? [],
            events: [EventType](c.events), series: extensions.series.map { [Series]($0.pointee.series) } ?? [],
            needs: Need.all(of: type),
            otherNames: words(extensions.otherNames?.pointee.names),
            flags: Int(c.flags), process: c.process, absorb: extensions.loop?.pointee.absorb)
    }
}
