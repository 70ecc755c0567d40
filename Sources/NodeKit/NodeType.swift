// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc

/// Turns a Swift node type into the C description that the host reads. The memory is never freed: types live as long
/// as the code that they point to. [control]
public func makeNodeType<N: Node>(_ type: N.Type) -> UnsafePointer<vg_node_type> {
    makeNodeType(type, as: N.descriptor, calls: N.calls) { (settings, host) throws(NodeError) in
        try N(settings: settings, host: host)
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
    c.settings = UnsafePointer(immortal(descriptor.settings.map(\.c)))
    c.setting_count = UInt32(descriptor.settings.count)
    c.process = descriptor.process
    c.absorb = descriptor.absorb
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
            guard let preparation = preparation?.pointee else { return nil }
            return try box(node).prepare(
                Preparation(
                    rate: preparation.rate, maxBlock: Int(preparation.max_block), offline: preparation.offline))
        }
    }
    c.activate = { box($0).activate() }
    c.deactivate = { box($0).deactivate() }
    if calls.contains(.receive) {
        c.receive = { node, port, message in
            if let message { box(node).receive(Message(message.pointee), Int(port)) }
        }
    }
    if calls.contains(.poll) { c.poll = { box($0).poll() } }
    if calls.contains(.latency) { c.latency = { UInt32(clamping: box($0).latency) } }
    if calls.contains(.wait) { c.wait = { box($0).wait(Int($1)) } }
    if calls.contains(.idle) { c.idle = { box($0).isIdle } }
    if calls.contains(.save) {
        c.save = { node, folder, error in
            guard let folder else { return false }
            return succeeds(error) { () throws(NodeError) in try box(node).save(to: String(cString: folder)) }
        }
    }
    if calls.contains(.presets) {
        c.load_preset = { node, preset, error in
            guard let preset else { return false }
            return succeeds(error) { () throws(NodeError) in try box(node).loadPreset(String(cString: preset)) }
        }
    }
    if calls.contains(.properties) {
        c.set_property = { node, key, value, error in
            guard let key, let value else { return false }
            return succeeds(error) { () throws(NodeError) in
                try box(node).setProperty(String(cString: key), to: SettingValue(value.pointee))
            }
        }
        c.ask_property = { node, key, error in
            guard let key else { return false }
            return succeeds(error) { () throws(NodeError) in try box(node).askProperty(String(cString: key)) }
        }
    }
    result.initialize(to: c)
    return UnsafePointer(result)
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
    func save(to folder: String) throws(NodeError) {}
    func loadPreset(_ preset: String) throws(NodeError) {}
    func setProperty(_ key: String, to value: SettingValue) throws(NodeError) {}
    func askProperty(_ key: String) throws(NodeError) {}
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
        processor = .allocate(capacity: 1)
        layoutCell.initialize(to: ownLayout.c)
    }

    deinit {
        processor.deallocate()
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
    override func save(to folder: String) throws(NodeError) { try node.save(to: folder) }
    override func loadPreset(_ preset: String) throws(NodeError) { try node.loadPreset(preset) }
    override func setProperty(_ key: String, to value: SettingValue) throws(NodeError) {
        try node.setProperty(key, to: value)
    }
    override func askProperty(_ key: String) throws(NodeError) { try node.askProperty(key) }
}

private func box(_ node: UnsafeMutableRawPointer?) -> NodeBox {
    Unmanaged<NodeBox>.fromOpaque(node!).takeUnretainedValue()  // the host passes only what create returned
}

private func attempt(
    _ error: UnsafeMutablePointer<vg_error>?, _ body: () throws(NodeError) -> UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    do {
        return try body()
    } catch let failure {
        if let error {
            copy(failure.message, &error.pointee.message)
            copy(failure.hint, &error.pointee.hint)
            copy(failure.key, &error.pointee.key)
        }
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

private func immortal(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(strdup(text)!) }

private func immortal<T>(_ items: [T]) -> UnsafeMutablePointer<T> {
    let memory = UnsafeMutablePointer<T>.allocate(capacity: max(1, items.count))
    memory.initialize(from: items, count: items.count)
    return memory
}

/// A layout in C memory.
private struct CLayout {
    let c: vg_layout

    init(_ layout: Layout) {
        let ports = layout.ports.map {
            vg_port(
                symbol: immortal($0.symbol), doc: immortal($0.doc), kind: $0.kind, direction: $0.direction,
                bus: $0.bus.map { immortal($0) }, default_value: $0.defaultValue)
        }
        let parameters = layout.parameters.map {
            vg_parameter(
                key: immortal($0.key), doc: immortal($0.doc), unit: immortal($0.unit), minimum: $0.range.lowerBound,
                maximum: $0.range.upperBound, default_value: $0.defaultValue, scale: $0.scale, flags: $0.flags)
        }
        c = vg_layout(
            ports: UnsafePointer(immortal(ports)), port_count: UInt32(ports.count),
            parameters: UnsafePointer(immortal(parameters)), parameter_count: UInt32(parameters.count))
    }

    func free() {
        func release(_ text: UnsafePointer<CChar>?) { Glibc.free(UnsafeMutablePointer(mutating: text)) }
        for port in UnsafeBufferPointer(start: c.ports, count: Int(c.port_count)) {
            release(port.symbol)
            release(port.doc)
            release(port.bus)
        }
        for parameter in UnsafeBufferPointer(start: c.parameters, count: Int(c.parameter_count)) {
            release(parameter.key)
            release(parameter.doc)
            release(parameter.unit)
        }
        c.ports?.deallocate()
        c.parameters?.deallocate()
    }
}

extension Setting {
    fileprivate var c: vg_setting {
        vg_setting(
            key: immortal(key), doc: immortal(doc), kind: kind, required: required,
            default_text: defaultText.map { immortal($0) }, minimum: range?.lowerBound ?? 0,
            maximum: range?.upperBound ?? 0, unit: unit.map { immortal($0) },
            choices: UnsafePointer(immortal(choices.map { Optional(immortal($0)) })),
            choice_count: UInt32(choices.count))
    }
}
