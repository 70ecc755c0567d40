// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit
import Synchronization

/// A running copy of a plugin, with everything that it points to. [control]
final class PluginInstance {
    let info: PluginInfo
    let ports: PortLayout
    private let world: World
    let instance: UnsafeMutablePointer<LilvInstance>
    private(set) var buffers: PluginBuffers
    let preparation: Preparation
    let features: Features
    let worker: PluginWorker
    /// What the plugin is still to be told; nil: it takes no messages.
    let patches: PacketRing?
    /// What the plugin tells of its properties; nil: it tells nothing.
    let answers: PropertyAnswers?
    /// What its settings tell it by message, before its first block.
    let told: [PatchMessage]
    /// For the time in which the plugin is changed.
    let pause = UnsafeMutablePointer<PluginPause>.allocate(capacity: 1)
    /// What is still to be changed and told, in order.
    var waiting: [PendingChange] = []
    private let parts: PluginParts
    /// Kept: plugins write their last lines while they are freed.
    private let log: PluginLog
    /// Whether the plugin saves and restores anything.
    let hasState: Bool
    private(set) var isActive = false
    /// Whether it was told what its settings say by message.
    private(set) var hasHeardSettings = false
    /// Files that it was told of before its first block and does not keep.
    var lost: [PatchMessage] = []
    /// What the audio thread needs; valid while this object lives.
    private(set) var processor: LV2Processor

    /// Loads the code, makes the plugin, connects its ports and restores `states` in order. `initial` has one value
    /// per parameter; `fires` what triggers among them have in the first block.
    init(
        _ info: PluginInfo, _ ports: PortLayout, _ initial: [Float], fires: [Int: Float] = [:],
        states: [PluginState], patches: [PatchMessage], _ preparation: Preparation, log: PluginLog, world: World
    ) throws(NodeError) {
        self.info = info
        self.ports = ports
        self.world = world
        self.log = log
        self.preparation = preparation
        worker = PluginWorker()
        features = Features(
            preparation, worker: worker, log: log, wantsLive: info.requiredFeatures.contains(VG_CORE__isLive.string))
        buffers = PluginBuffers(info, ports, initial, fires: fires, preparation)
        features.sizes.tell(buffers.sizes(of: info.ports.count))
        let takesPatches = info.patchPort != nil && !info.properties.isEmpty
        let messages = PacketRing(capacity: takesPatches ? patches.reduce(1 << 15) { $0 + $1.bytes.count + 16 } : 64)
        told = takesPatches ? patches : []
        for message in told {
            _ = message.bytes.withUnsafeBytes { messages.ends.push($0.baseAddress, size: $0.count) }
        }
        self.patches = takesPatches ? messages : nil
        answers = info.ports.contains { info.tellsProperties(at: $0.index) } ? PropertyAnswers(info.properties) : nil
        pause.initialize(to: PluginPause(rate: preparation.rate))
        let patch = UnsafeMutableRawPointer.allocate(byteCount: messages.ends.largest, alignment: 8)
        let instance: UnsafeMutablePointer<LilvInstance>
        do throws(NodeError) { instance = try Self.instantiate(info, preparation.rate, features, world) } catch {
            patch.deallocate()
            pause.deallocate()
            throw error
        }
        self.instance = instance

        var code = vg_lv2_code(handle: features.list, run: { _, _ in }, connect_port: { _, _, _ in })
        guard vg_lv2_code_of(instance, &code) else {
            world.locked { _ in lilv_instance_free(instance) }
            patch.deallocate()
            pause.deallocate()
            throw NodeError("\(info.name) in \(info.bundle) has no run or connect_port function")
        }
        PluginStep.tell(.extensionData)
        let interface = lilv_instance_get_extension_data(instance, VG_WORKER__interface)
        let workerInterface = interface?.assumingMemoryBound(to: LV2_Worker_Interface.self)
        worker.attach(code.handle, workerInterface.map { UnsafePointer($0) })
        hasState = lilv_instance_get_extension_data(instance, VG_STATE__interface) != nil

        let workerCore = workerInterface == nil ? nil : worker.core
        parts = PluginParts(
            worker: workerCore, patches: takesPatches ? messages.ends : nil, patch: patch, answers: answers?.ends,
            pause: pause)
        processor = buffers.processor(info, code, parts)
        PluginStep.tell(.connectPort)
        buffers.connectAll(code, pause)
        PluginStep.tell(.restore)
        let (made, given) = (features, states)
        PluginThreads.watch(info.binary) { for state in given { state.restore(instance, made) } }
        guard preparation.offline || worker.start() else {
            throw NodeError("no thread is left for the worker of \(info.name)")
        }
    }

    deinit {
        deactivate()
        worker.finish()
        PluginStep.tell(.cleanup)
        PluginThreads.settle(info.binary)
        world.locked { _ in lilv_instance_free(instance) }
        parts.patch.deallocate()
        pause.deallocate()
    }

    /// Processing is about to begin. The ports are connected to memory of this object's own meanwhile, because the
    /// buffers of an earlier graph may be gone.
    func activate() {
        guard !isActive else { return }
        isActive = true
        buffers.connectAll(processor.code, pause)
        PluginStep.tell(.activate)
        PluginThreads.watch(info.binary) { lilv_instance_activate(instance) }
        // A state that loads its files through the worker is complete before the first block.
        if let worker = processor.extras?.pointee.worker {
            PluginStep.tell(.workResponse)
            deliverWaiting(worker)
        }
        if !hasHeardSettings {
            hasHeardSettings = true
            hearSettings()
        }
    }

    /// Processing has ended. Most plugins forget what they held, so this is no pause.
    func deactivate() {
        guard isActive else { return }
        isActive = false
        PluginStep.tell(.deactivate)
        lilv_instance_deactivate(instance)
    }

    /// Goes on, instead of a new copy, where only the length of blocks is another and the plugin takes that as an
    /// option. False: make a new copy. It must not be active.
    func adapt(to next: Preparation) -> Bool {
        guard !isActive, next.rate == preparation.rate, next.offline == preparation.offline,
            let interface = lilv_instance_get_extension_data(instance, VG_OPTIONS__interface),
            let set = interface.assumingMemoryBound(to: LV2_Options_Interface.self).pointee.set
        else { return false }
        features.options.tell(longest: next.maxBlock)
        guard set(processor.code.handle, features.options.list) == LV2_OPTIONS_SUCCESS.rawValue else { return false }
        // What it says of itself afterwards decides: some take every option and heed none.
        if let longest = option(VG_BUF_SIZE__maxBlockLength), longest != Double(next.maxBlock) { return false }
        let values = (0..<ports.parameters.count).map { buffers.values[$0] }
        let made = PluginBuffers(info, ports, values, next)
        processor = made.processor(info, processor.code, parts)
        made.latencyFrames.pointee.store(UInt32(clamping: latency), ordering: .releasing)
        made.connectAll(processor.code, pause)
        buffers = made
        return true
    }

    /// An option's value as the plugin itself tells it; nil: it does not.
    func option(_ key: UnsafePointer<CChar>) -> Double? {
        guard let interface = lilv_instance_get_extension_data(instance, VG_OPTIONS__interface),
            let get = interface.assumingMemoryBound(to: LV2_Options_Interface.self).pointee.get
        else { return nil }
        return PluginOptions.value(of: key) { get(processor.code.handle, $0) }
    }

    /// Restores what the plugin itself saved; while it runs only if it says that it can. [control]
    func restore(_ state: PluginState) { worker.whileRestoring { state.restore(instance, features) } }

    /// The value that a parameter had in the last block.
    func parameterValue(_ place: Int) -> Float { vg_lv2_peek(buffers.values + place) }

    /// The latency last reported, in frames. Set it before the first block only.
    var latency: Int {
        get { Int(buffers.latencyFrames.pointee.load(ordering: .acquiring)) }
        set { buffers.latencyFrames.pointee.store(UInt32(clamping: newValue), ordering: .releasing) }
    }

    /// What the plugin would need to go on in another instance; nil: it has no state of its own.
    func savedState() -> PluginState? {
        guard hasState else { return nil }
        return PluginState.saved(from: instance, of: info.uri, scratch: features.madeFiles, world)
    }

    /// Writes what the plugin would need to go on in another process, the values of its ports among it. With a label it
    /// is a preset.
    func save(to folder: String, label: String? = nil) throws(NodeError) {
        let values = PortValues(ports.parameters.indices.map(parameterValue), info, ports)
        let state = PluginState.saved(
            from: instance, of: info.uri, values: values, folder: folder, scratch: features.madeFiles, world)
        guard let state else { throw NodeError("\(info.name) does not give its state", key: "state") }
        try state.write(to: folder, label: label)
    }

    private static func instantiate(
        _ info: PluginInfo, _ rate: Double, _ features: Features, _ world: World
    ) throws(NodeError) -> UnsafeMutablePointer<LilvInstance> {
        // lilv does not say why it fails, the loader does. A library that is loaded already costs little here.
        // The code stays for the process's life: a library that pulls in GLib or Qt crashes when it is loaded again.
        PluginStep.tell(.load)
        let library: Library
        do throws(Fault) { library = try openLibrary(info.binary) } catch {
            throw info.unloadable(error.message, "a library that the plugin needs is missing or too old")
        }
        defer { library.close() }
        PluginStep.tell(.describe)
        guard describes(library, info.uri) else {
            throw info.unloadable(
                "\(info.binary) does not hold this plugin", "it was built without it, or the bundle is damaged")
        }
        PluginStep.tell(.instantiate)
        let made: UnsafeMutablePointer<LilvInstance>? = PluginThreads.watch(info.binary) {
            world.locked { lilv in
                let plugin = lilv.plugin(info.uri)
                return FreshMemory.during { plugin.flatMap { lilv_plugin_instantiate($0, rate, features.list) } }
            }
        }
        guard let made else {
            throw info.unloadable("the plugin refused to start at \(Int(rate)) Hz", "its log may say more")
        }
        return made
    }
}

/// Loads a plugin's code. Some plugins were built without naming the library that they use, which is then loaded for them.
/// [control]
private func openLibrary(_ path: String) throws(Fault) -> Library {
    let flags = RTLD_NOW | Int32(RTLD_NODELETE)
    do throws(Fault) { return try Library(path, flags: flags) } catch {
        guard let known = unnamedLibraries.first(where: { error.message.contains("undefined symbol: " + $0.symbols) }),
            (try? Library(known.library, flags: flags | RTLD_GLOBAL)) != nil
        else { throw error }
        return try Library(path, flags: flags)
    }
}

/// Whether a library describes a plugin. One that makes its descriptors for each bundle is believed. [control]
private func describes(_ library: Library, _ uri: String) -> Bool {
    if library.address(of: "lv2_lib_descriptor") != nil { return true }
    guard let describe = try? library.function("lv2_descriptor", as: LV2_Descriptor_Function.self) else { return false }
    for index in UInt32(0)... {
        guard let descriptor = describe(index) else { return false }
        if let name = descriptor.pointee.URI, strcmp(name, uri) == 0 { return true }
    }
    return false
}

/// Beginnings of symbols, and the library that has them.
private let unnamedLibraries = [(symbols: "fftwf_", library: "libfftw3f.so.3")]
