// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit
import Synchronization

/// What a plugin does on silence, before its first block is heard. [control]
extension PluginInstance {
    /// Runs a plugin that takes messages on silence, until it has heard what its settings tell it and done the work that
    /// comes of that, and lets it begin anew: so it begins with its files, as after a state.
    func hearSettings() {
        guard let extras = processor.extras, let patches, !patches.ends.isEmpty else { return }
        var (frames, blocks) = (0, 0)
        PluginStep.tell(.run)
        while !patches.ends.isEmpty || frames < Self.settlingFrames || blocks < Self.settlingBlocks {
            blocks += 1
            let port = extras.pointee.atoms + (ports.atoms.firstIndex { $0.port == info.patchPort } ?? 0)
            for index in ports.atoms.indices where extras.pointee.atoms[index].isInput {
                extras.pointee.atoms[index].clear(extras.pointee.urids)
            }
            port.pointee.appendPatch(patches.ends, extras.pointee.patch, extras.pointee.urids)
            frames += runOnSilence(at: frames)
        }
        lost = told.filter { $0.path.map { !keeps($0) } ?? false }
        PluginStep.tell(.deactivate)
        lilv_instance_deactivate(instance)
        PluginStep.tell(.activate)
        PluginThreads.watch(info.binary) { lilv_instance_activate(instance) }
    }

    /// Some plugins take a file in several steps, one a block, and go over to it without a jump.
    private static var settlingFrames: Int { 4096 }
    private static var settlingBlocks: Int { 4 }

    /// Runs a block of silence, with the values that the next block will have, and does what work comes of it; returns its
    /// length, which is that of the blocks to come, since some plugins begin anew when it changes.
    private func runOnSilence(at position: Int, offline: Bool? = nil) -> Int {
        guard let extras = processor.extras else { return buffers.maxBlock }
        var cycle = vg_cycle()
        cycle.size = UInt32(MemoryLayout<vg_cycle>.size)
        cycle.frames = UInt32(clamping: buffers.maxBlock)
        cycle.flags = offline ?? preparation.offline ? UInt32(VG_CYCLE_OFFLINE) : 0
        cycle.rate = preparation.rate
        cycle.position = UInt64(clamping: position)
        setSpecials(extras, processor.values, nil, &cycle)
        for index in ports.atoms.indices where !extras.pointee.atoms[index].isInput {
            extras.pointee.atoms[index].offer(extras.pointee.urids)
        }
        buffers.silence()
        var code = processor.code
        vg_lv2_run(&code, cycle.frames)
        if let core = extras.pointee.worker {
            worker.finishWork()
            endRun(core)
        }
        for index in ports.atoms.indices where extras.pointee.atoms[index].tellsPatches {
            if let answers = extras.pointee.answers {
                extras.pointee.atoms[index].tell(answers, extras.pointee.urids)
            }
        }
        return Int(cycle.frames)
    }

    /// Runs a few blocks of silence and tells the latency that the plugin then reports; many report none before they
    /// have run. `offline`: whether the one that is heard will be. The instance is used up by it.
    func latencyOfSilence(offline: Bool) -> Int {
        activate()
        defer { deactivate() }
        for _ in 0..<2 { _ = runOnSilence(at: 0, offline: offline) }
        guard let extras = processor.extras, extras.pointee.latency >= 0 else { return 0 }
        return Int(latencyFrames(extras.pointee.controls[extras.pointee.latency]))
    }

    /// Whether what the plugin saves names a file. One that saves nothing of its own is not asked.
    private func keeps(_ path: String) -> Bool {
        guard let data = lilv_instance_get_extension_data(instance, VG_STATE__interface),
            let save = data.assumingMemoryBound(to: LV2_State_Interface.self).pointee.save
        else { return true }
        let search = FileSearch(path)
        let status = withExtendedLifetime(search) {
            save(
                processor.code.handle,
                { search, _, value, size, _, _ in
                    guard let search, let value else { return LV2_STATE_SUCCESS }
                    Unmanaged<FileSearch>.fromOpaque(search)._withUnsafeGuaranteedRef {
                        $0.look(UnsafeRawBufferPointer(start: value, count: size))
                    }
                    return LV2_STATE_SUCCESS
                }, Unmanaged.passUnretained(search).toOpaque(), LV2_STATE_IS_POD.rawValue, features.list)
        }
        return search.isFound || status != LV2_STATE_SUCCESS
    }
}

/// Looks for a file's name in the values of a state.
private final class FileSearch {
    private let name: [UInt8]
    private(set) var isFound = false

    init(_ path: String) { name = Array((path.split(separator: "/").last ?? "").utf8) }

    func look(_ value: UnsafeRawBufferPointer) {
        guard !isFound, value.count >= name.count else { return }
        isFound = (0...(value.count - name.count)).contains { value[$0..<($0 + name.count)].elementsEqual(name) }
    }
}
