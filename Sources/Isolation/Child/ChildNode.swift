// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit
import Realtime

/// A node in a child: the real one. What it tells its host goes through the channel. [control]
final class ChildNode {
    private let id: UInt32
    private let instance: NodeInstance
    private let channel: Channel
    private let page: StatusPage
    private let notes = Ring<vg_note>(minimumCapacity: 256)
    private var preparation: Preparation?
    private var memory: SharedMemory?
    private var audio: ChildAudio?
    private var isActive = false
    /// Whether parameters stay as they are: the host's values are newer than a preset that is loaded again. Only this
    /// thread's.
    private let deafness = Deafness()

    /// Whether turns are not passed on.
    private final class Deafness { var isDeaf = false }

    init(
        _ id: UInt32, _ type: UnsafePointer<vg_node_type>, _ name: String, _ settings: Settings, _ folder: String,
        _ channel: Channel, _ page: StatusPage
    ) throws(NodeError) {
        self.id = id
        self.channel = channel
        self.page = page
        instance = try NodeInstance(
            type: type, name: name, settings: settings, baseFolder: folder,
            services: NodeServices(
                log: { level, text in
                    var frame = FrameWriter(.log, node: id)
                    frame.put(level.rawValue)
                    frame.put(text)
                    _ = channel.send(frame)
                },
                publish: { event in _ = channel.send(FrameWriter(event.pointee, node: id)) },
                send: { port, message in
                    var frame = FrameWriter(.send, node: id)
                    frame.put(UInt32(port))
                    frame.put(message)
                    return channel.send(frame)
                }))
        nonisolated(unsafe) let deafness = deafness  // nodes turn during calls, which this thread makes
        instance.onSetParameter { place, value, atOnce in
            if deafness.isDeaf { return true }
            var frame = FrameWriter(.turn, node: id)
            frame.put(UInt32(place))
            frame.put(value)
            frame.put(UInt8(atOnce ? 1 : 0))
            return channel.send(frame)
        }
    }

    var layout: Layout { Layout(ports: instance.ports, parameters: instance.parameters) }
    var canSave: Bool { instance.canSave }
    /// Offline the host asks for every round, so that a render does not depend on time.
    var pollsItself: Bool { isActive && preparation?.offline == false }

    /// Prepares the node for blocks in the memory behind a descriptor; returns the node's latency.
    func prepare(_ preparation: Preparation, memory descriptor: Int32) throws(NodeError) -> UInt32 {
        deactivate()
        let shape = BlockShape(instance.ports, parameters: instance.parameters.count, maxBlock: preparation.maxBlock)
        guard descriptor >= 0, let memory = SharedMemory(descriptor: descriptor, size: SharedBlock.size(shape)) else {
            throw NodeError("the shared memory cannot be mapped: \(String(cString: strerror(errno)))")
        }
        try page.doing(.prepare, id) { () throws(NodeError) in try instance.prepare(preparation) }
        self.preparation = preparation
        self.memory = memory
        let latency = page.doing(.latency, id) { UInt32(clamping: instance.latency) }
        SharedBlock(shape, at: memory.address).latency.pointee.store(latency, ordering: .relaxed)
        return latency
    }

    func activate(_ scheduling: (policy: Int32, priority: Int32)?) throws(NodeError) {
        guard !isActive, let memory, let preparation else { return }
        page.doing(.activate, id) { instance.activate() }
        isActive = true
        guard instance.type.pointee.process != nil else { return }
        let shape = BlockShape(instance.ports, parameters: instance.parameters.count, maxBlock: preparation.maxBlock)
        audio = try ChildAudio(instance, SharedBlock(shape, at: memory.address), shape, notes.writer)
        schedule(scheduling)
    }

    func deactivate() {
        audio?.end()
        audio = nil
        guard isActive else { return }
        isActive = false
        page.doing(.deactivate, id) { instance.deactivate() }
        tellNotes()
    }

    func schedule(_ scheduling: (policy: Int32, priority: Int32)?) {
        if let scheduling { audio?.schedule(policy: scheduling.policy, priority: scheduling.priority) }
    }

    func receive(_ message: Message, port: Int) {
        page.doing(.receive, id) { instance.receive(message, port: port) }
    }

    func poll() {
        page.doing(.poll, id) { instance.poll() }
        tellNotes()
        if let audio, instance.type.pointee.latency != nil {
            audio.setLatency(page.doing(.latency, id) { UInt32(clamping: instance.latency) })
        }
    }

    var isIdle: Bool { page.doing(.idle, id) { instance.isIdle } }

    func save(to folder: String) throws(NodeError) {
        try page.doing(.save, id) { () throws(NodeError) in try instance.save(to: folder) }
    }

    /// `again`: after a restart; what it turns is not turned, also when that comes a little later.
    func loadPreset(_ preset: String, again: Bool) throws(NodeError) {
        deafness.isDeaf = again
        try page.doing(.preset, id) { () throws(NodeError) in try instance.loadPreset(preset) }
    }

    func setProperty(_ key: String, to value: SettingValue) throws(NodeError) {
        try page.doing(.property, id) { () throws(NodeError) in try instance.setProperty(key, to: value) }
    }

    func askProperty(_ key: String) throws(NodeError) {
        try page.doing(.property, id) { () throws(NodeError) in try instance.askProperty(key) }
    }

    private func tellNotes() {
        while let note = notes.reader.pop() {
            var frame = FrameWriter(.note, node: id)
            frame.put(note.kind.rawValue)
            frame.put(note.text.map { String(cString: $0) } ?? "")
            frame.put(note.value)
            _ = channel.send(frame)
        }
    }
}

extension FrameWriter {
    /// An event as a frame.
    init(_ event: vg_event, node: UInt32) {
        self.init(.publish, node: node)
        put(event.name.map { String(cString: $0) } ?? "")
        if let levels = event.levels?.pointee {
            put(UInt8(1))
            put(levels.channels)
            put(levels.peak, Int(levels.channels))
            put(levels.rms, Int(levels.channels))
            put(levels.orb)
            put(levels.position)
        } else if let audio = event.audio?.pointee {
            put(UInt8(2))
            put(audio.channels)
            put(audio.frames)
            for channel in 0..<Int(audio.channels) { put(audio.samples[channel], Int(audio.frames)) }
            put(audio.rate)
            put(audio.position)
        } else {
            put(UInt8(0))
            let count = event.fields == nil ? 0 : Int(event.field_count)
            put(UInt32(count))
            for entry in UnsafeBufferPointer(start: event.fields, count: count) {
                put(entry.key.map { String(cString: $0) } ?? "")
                put(SettingValue(entry.value))
            }
        }
    }
}
