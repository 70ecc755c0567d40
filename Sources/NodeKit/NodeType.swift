// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc
import System

/// Turns a Swift node type into the C description that the host reads. The memory is never freed: types live as long
/// as the code that they point to. [control]
public func makeNodeType<N: Node>(_ type: N.Type) -> UnsafePointer<vg_node_type> {
    makeNodeType(type, as: N.descriptor, calls: N.calls) { (settings, host) throws(NodeError) in
        try N(settings: settings, host: host)
    }
}

/// The same, made once for each type of the process. [control]
package func nodeType<N: Node>(_ type: N.Type) -> UnsafePointer<vg_node_type> { madeTypes.type(N.self) }

private let madeTypes = MadeTypes()

private final class MadeTypes: @unchecked Sendable {
    // Sendable: `monitor` guards what changes, and what is made never does.
    private let monitor = Monitor()
    private var made: [ObjectIdentifier: UnsafePointer<vg_node_type>] = [:]

    func type<N: Node>(_ type: N.Type) -> UnsafePointer<vg_node_type> {
        monitor.locked {
            let id = ObjectIdentifier(type)
            let found = made[id] ?? makeNodeType(N.self)
            made[id] = found
            return found
        }
    }
}

/// Turns a Swift node type into the C description that the host reads, when what it says of itself, and how its nodes
/// are made, is known only at run time. The memory is never freed. [control]
public func makeNodeType<N: Node>(
    _ type: N.Type, as descriptor: NodeDescriptor, calls: NodeCalls,
    make: @escaping (Settings, NodeHost) throws(NodeError) -> N
) -> UnsafePointer<vg_node_type> {
    let result = UnsafeMutablePointer<vg_node_type>.allocate(capacity: 1)
    var c = vg_node_type()
    c.abi = UInt32(VG_ABI_VERSION)
    c.size = UInt32(MemoryLayout<vg_node_type>.size)
    c.user = Unmanaged.passRetained(
        NodeFactory { (settings, host) throws(NodeError) in Box(try make(settings, host)) }
    ).toOpaque()
    c.name = immortal(descriptor.name)
    c.summary = immortal(descriptor.summary)
    c.doc = immortal(descriptor.doc)
    c.flags = descriptor.flags
    c.default_layout = CLayout(descriptor.layout).c
    c.settings = descriptor.settings.c
    c.events = descriptor.events.c
    c.extensions = immortalList(extensions(of: descriptor, calls))
    c.process = descriptor.process
    c.create = { type, host, settings, error in
        guard let type, let host else { return nil }
        let factory = Unmanaged<NodeFactory>.fromOpaque(type.pointee.user).takeUnretainedValue()
        return attempt(error) { () throws(NodeError) in
            Unmanaged.passRetained(try factory.make(Settings(settings), NodeHost(host))).toOpaque()
        }
    }
    c.destroy = { if let node = $0 { Unmanaged<NodeBox>.fromOpaque(node).release() } }
    c.layout = { box($0).layout }
    c.prepare = { node, preparation, error in
        attempt(error) { () throws(NodeError) in
            guard let preparation else { return nil }
            return try box(node).prepare(Preparation(preparation))
        }
    }
    c.activate = { box($0).activate() }
    c.deactivate = { box($0).deactivate() }
    if calls.contains(.poll) { c.poll = { box($0).poll() } }
    if calls.contains(.latency) { c.latency = { UInt32(clamping: box($0).latency) } }
    result.initialize(to: c)
    return UnsafePointer(result)
}

/// What a type has besides the core, by what it declares and which calls it takes.
private func extensions(of descriptor: NodeDescriptor, _ calls: NodeCalls) -> [vg_extension] {
    var result: [vg_extension] = []
    func add<Table>(_ name: String, _ table: Table) { result.append(immortalExtension(name, table)) }
    if !descriptor.actions.isEmpty {
        add(
            VG_EXT_ACTIONS,
            vg_type_actions(actions: descriptor.actions.c, perform: calls.contains(.perform) ? perform : nil))
    }
    if calls.contains(.receive) {
        add(
            VG_EXT_MESSAGES,
            vg_type_messages { node, port, message in
                if let message { box(node).receive(Message(message.pointee), Int(port)) }
            })
    }
    if calls.contains(.settings), descriptor.settings.contains(where: \.isLive) {
        add(
            VG_EXT_LIVE_SETTINGS,
            vg_type_live_settings { node, key, value, error in
                guard let key, let value else { return false }
                return succeeds(error) { () throws(NodeError) in
                    try box(node).set(String(cString: key), to: SettingValue(value.pointee))
                }
            })
    }
    if !descriptor.series.isEmpty { add(VG_EXT_SERIES, vg_type_series(series: descriptor.series.c)) }
    if let direction = descriptor.streams { add(VG_EXT_STREAMS, streamTable(direction)) }
    if let absorb = descriptor.absorb { add(VG_EXT_LOOP, vg_type_loop(absorb: absorb)) }
    if calls.contains(.wait) { add(VG_EXT_OFFLINE, vg_type_offline { box($0).wait(Int($1)) }) }
    if !calls.isDisjoint(with: [.idle, .finish]) {
        var ending = vg_type_ending()
        if calls.contains(.idle) { ending.idle = { box($0).isIdle } }
        if calls.contains(.finish) { ending.finish = { box($0).finish() } }
        add(VG_EXT_ENDING, ending)
    }
    if !descriptor.needs.isEmpty { add(VG_EXT_NEEDS, vg_type_needs(needs: descriptor.needs.c)) }
    if !descriptor.otherNames.isEmpty {
        add(VG_EXT_OTHER_NAMES, vg_type_other_names(names: immortal(descriptor.otherNames.joined(separator: " "))))
    }
    return result
}

/// Does an action of a node.
private func perform(
    _ node: UnsafeMutableRawPointer?, _ action: UnsafePointer<CChar>?, _ arguments: UnsafePointer<vg_value>?,
    _ call: UnsafePointer<vg_call>?, _ error: UnsafeMutablePointer<vg_error>?
) -> vg_outcome {
    guard let action, let call else { return VG_FAILED }
    var isLater = false
    let isDone = succeeds(error) { () throws(NodeError) in
        try box(node).perform(String(cString: action), Settings(arguments), ActionCall(call, isLater: &isLater))
    }
    return isDone ? isLater ? VG_LATER : VG_DONE : VG_FAILED
}

private func streamTable(_ direction: vg_direction) -> vg_type_streams {
    vg_type_streams(
        gives: direction == VG_OUTPUT, state: { node, state in state?.pointee = box(node).streamState.c },
        open: { node, rate, channels, client, stream, error in
            succeeds(error) { () throws(NodeError) in
                let opened = try box(node).openStream(rate, Int(channels), client.map { String(cString: $0) } ?? "")
                stream?.pointee = cStream(opened, channels: Int(channels))
            }
        })
}

/// Describes a plugin with these node types; call it from the exported `vg_plugin_entry`. [control]
public func exportPlugin<each N: Node>(
    _ types: repeat (each N).Type, name: String, version: String, license: String, hostABI: UInt32
) -> UnsafePointer<vg_plugin>? {
    guard hostABI == UInt32(VG_ABI_VERSION) else { return nil }
    var list: [UnsafePointer<vg_node_type>?] = []
    repeat list.append(makeNodeType(each types))
    let result = UnsafeMutablePointer<vg_plugin>.allocate(capacity: 1)
    result.initialize(
        to: vg_plugin(
            abi: UInt32(VG_ABI_VERSION), size: UInt32(MemoryLayout<vg_plugin>.size), name: immortal(name),
            version: immortal(version), license: immortal(license), types: UnsafePointer(immortal(list)),
            type_count: UInt32(list.count)))
    return UnsafePointer(result)
}

private final class NodeFactory {
    let make: (Settings, NodeHost) throws(NodeError) -> NodeBox
    init(_ make: @escaping (Settings, NodeHost) throws(NodeError) -> NodeBox) { self.make = make }
}

/// What a `void *node` points to.
private class NodeBox {
    var layout: UnsafePointer<vg_layout>? { nil }
    var latency: Int { 0 }
    var isIdle: Bool { true }
    func prepare(_ preparation: Preparation) throws(NodeError) -> UnsafeMutableRawPointer? { nil }
    func activate() {}
    func deactivate() {}
    func receive(_ message: Message, _ port: Int) {}
    func poll() {}
    func wait(_ frames: Int) {}
    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {}
    func set(_ setting: String, to value: SettingValue) throws(NodeError) {}
    func finish() {}
    var streamState: StreamState { StreamState() }
    func openStream(_ rate: Double, _ channels: Int, _ client: String) throws(NodeError) -> any ClientStream {
        throw NodeError("it has no streams")
    }
}

private final class Box<N: Node>: NodeBox {
    private let node: N
    private let ownLayout: CLayout
    private let layoutCell: UnsafeMutablePointer<vg_layout>
    private let processor: UnsafeMutablePointer<N.Processor>

    init(_ node: N) {
        self.node = node
        ownLayout = CLayout(node.layout)
        layoutCell = .allocate(capacity: 1)
        processor = AudioMemory.make()
        layoutCell.initialize(to: ownLayout.c)
    }

    deinit {
        AudioMemory.free(processor)
        layoutCell.deallocate()
        ownLayout.free()
    }

    override var layout: UnsafePointer<vg_layout>? { UnsafePointer(layoutCell) }
    override var latency: Int { node.latency }
    override var isIdle: Bool { node.isIdle }
    override func prepare(_ preparation: Preparation) throws(NodeError) -> UnsafeMutableRawPointer? {
        processor.initialize(to: try node.prepare(preparation))  // BitwiseCopyable: overwriting needs no deinit
        return UnsafeMutableRawPointer(processor)
    }
    override func activate() { node.activate() }
    override func deactivate() { node.deactivate() }
    override func receive(_ message: Message, _ port: Int) { node.receive(message, port: port) }
    override func poll() { node.poll() }
    override func wait(_ frames: Int) { node.wait(frames: frames) }
    override func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        try node.perform(action, arguments, call)
    }
    override func set(_ setting: String, to value: SettingValue) throws(NodeError) { try node.set(setting, to: value) }
    override func finish() { node.finish() }
    override var streamState: StreamState { node.streamState }
    override func openStream(_ rate: Double, _ channels: Int, _ client: String) throws(NodeError) -> any ClientStream {
        try node.openStream(rate: rate, channels: channels, client: client)
    }
}

private func box(_ node: UnsafeMutableRawPointer?) -> NodeBox {
    Unmanaged<NodeBox>.fromOpaque(node!).takeUnretainedValue()  // the host passes only what create returned
}

extension Preparation {
    /// What a host passes; an older one knows nothing of parameters.
    fileprivate init(_ c: UnsafePointer<vg_preparation>) {
        self.init(rate: c.pointee.rate, maxBlock: Int(c.pointee.max_block), offline: c.pointee.offline)
        let isThere = Int(c.pointee.size) >= MemoryLayout<vg_preparation>.size
        guard isThere, let values = c.pointee.parameters else { return }
        parameters = Array(UnsafeBufferPointer(start: values, count: Int(c.pointee.parameter_count)))
    }
}

private func attempt(
    _ error: UnsafeMutablePointer<vg_error>?, _ body: () throws(NodeError) -> UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    do {
        return try body()
    } catch let failure {
        if let error { failure.copy(to: &error.pointee) }
        return nil
    }
}

private func succeeds(
    _ error: UnsafeMutablePointer<vg_error>?, _ body: () throws(NodeError) -> Void
) -> Bool {
    var done = false
    _ = attempt(error) { () throws(NodeError) in
        try body()
        done = true
        return nil
    }
    return done
}
