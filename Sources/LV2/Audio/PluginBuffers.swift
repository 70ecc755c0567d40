// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit
import Synchronization

/// The memory behind a plugin's ports. Every port has some: plugins crash on ports that were never connected, some
/// even on those that their data calls optional.
final class PluginBuffers {
    /// Parameters, then control outputs.
    let values: UnsafeMutablePointer<Float>
    let inputs: UnsafeMutablePointer<vg_foreign_port>
    let outputs: UnsafeMutablePointer<vg_foreign_port>
    let atoms: UnsafeMutablePointer<AtomPort>
    let specials: UnsafeMutablePointer<SpecialParameter>
    let specialCount: Int
    /// Filled by the instance.
    let extras = UnsafeMutablePointer<PluginExtras>.allocate(capacity: 1)
    let latencyFrames = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

    private let ports: PortLayout
    /// One block per audio port, for the time when no graph gives any.
    private let scratch: UnsafeMutablePointer<Float>
    private let scratchBytes: Int
    let maxBlock: Int

    /// `initial` has one value per parameter; `fires` what triggers among them have in the first block.
    init(
        _ info: PluginInfo, _ ports: PortLayout, _ initial: [Float], fires: [Int: Float] = [:],
        _ preparation: Preparation
    ) {
        self.ports = ports
        maxBlock = max(1, preparation.maxBlock)
        let valueCount = ports.parameters.count + ports.controlOutputs.count
        values = .allocate(capacity: max(1, valueCount))
        values.initialize(repeating: 0, count: max(1, valueCount))
        for (index, value) in initial.enumerated() { values[index] = value }

        let audioCount = ports.audioInputs.count + ports.audioOutputs.count
        // Plugins with SIMD code may write whole vectors: some room behind the last block.
        let scratchCount = max(1, audioCount * maxBlock + 16)
        scratchBytes = scratchCount * 4
        scratch = UnsafeMutableRawPointer.allocate(byteCount: scratchBytes, alignment: 64)
            .bindMemory(to: Float.self, capacity: scratchCount)
        scratch.initialize(repeating: 0, count: scratchCount)
        inputs = .allocate(capacity: max(1, ports.audioInputs.count))
        outputs = .allocate(capacity: max(1, ports.audioOutputs.count))
        for (index, port) in ports.audioInputs.enumerated() {
            (inputs + index).initialize(to: vg_foreign_port(connected: scratch, port: UInt32(port)))
        }
        for (index, port) in ports.audioOutputs.enumerated() {
            (outputs + index).initialize(to: vg_foreign_port(connected: scratch, port: UInt32(port)))
        }

        atoms = .allocate(capacity: max(1, ports.atoms.count))
        for (index, entry) in ports.atoms.enumerated() {
            let takesPatches = entry.port == info.patchPort
            (atoms + index).initialize(
                to: AtomPort(
                    info.ports[entry.port], midi: entry.midi, takesPatches: takesPatches,
                    tellsPatches: info.tellsProperties(at: entry.port)))
        }
        let special = info.specialParameters(ports, rate: Float(preparation.rate), fires)
        specials = .allocate(capacity: max(1, special.count))
        for (index, one) in special.enumerated() { (specials + index).initialize(to: one) }
        specialCount = special.count
        latencyFrames.initialize(to: Atomic(0))
    }

    deinit {
        for index in ports.atoms.indices { free(atoms[index].memory) }
        values.deallocate()
        scratch.deallocate()
        inputs.deallocate()
        outputs.deallocate()
        atoms.deallocate()
        specials.deallocate()
        extras.deallocate()
        latencyFrames.deallocate()
    }

    /// Bytes behind each port of the plugin; 0 where they are the graph's, and may be others in each block.
    func sizes(of count: Int) -> [Int] {
        var sizes = [Int](repeating: 0, count: count)
        for port in ports.parameters + ports.controlOutputs { sizes[port] = MemoryLayout<Float>.size }
        for (index, entry) in ports.atoms.enumerated() { sizes[entry.port] = atoms[index].size }
        return sizes
    }

    /// The audio thread's view of a plugin with this memory.
    func processor(
        _ info: PluginInfo, _ code: vg_lv2_code, _ parts: PluginParts
    ) -> LV2Processor {
        let atomPorts = ports.atoms.map { info.ports[$0.port] }
        extras.initialize(
            to: PluginExtras(
                urids: URIDs(URIDMap.shared), specials: specials, specialCount: specialCount, atoms: atoms,
                atomCount: atomPorts.count, controls: values + ports.parameters.count,
                controlCount: ports.controlOutputs.count, worker: parts.worker,
                latency: info.latencyPort.flatMap { ports.controlOutputs.firstIndex(of: $0) } ?? -1,
                latencyFrames: latencyFrames, wantsTime: atomPorts.contains { $0.isInput && $0.supportsTime },
                patches: parts.patches, patch: parts.patch, answers: parts.answers))
        let isPlain =
            specialCount == 0 && atomPorts.isEmpty && ports.controlOutputs.isEmpty && parts.worker == nil
        let steady = isPlain && !ports.audioOutputs.isEmpty ? vg_foreign_choose() : lv2Process
        let foreign = vg_foreign(
            steady: steady, moved: lv2Process, state: PluginPause.state(of: parts.pause),
            outputs: outputs, output_end: outputs + ports.audioOutputs.count, handle: code.handle, run: code.run)
        return LV2Processor(
            foreign: foreign, code: code, holdsParameters: specialCount == 0, values: values,
            parameterCount: ports.parameters.count, inputs: inputs,
            inputEnd: inputs + ports.audioInputs.count, outputs: outputs, outputEnd: outputs + ports.audioOutputs.count,
            extras: isPlain ? nil : extras, pause: parts.pause)
    }

    /// Empties the memory behind audio ports, which `connectAll` connects.
    func silence() { memset(scratch, 0, scratchBytes) }

    /// Connects every port to this memory, so that nothing of a graph is touched from now on. The plugin must not
    /// run meanwhile. [control]
    func connectAll(_ code: vg_lv2_code, _ pause: UnsafeMutablePointer<PluginPause>) {
        var code = code
        pause.pointee.revision = noRevision
        for (index, port) in (ports.parameters + ports.controlOutputs).enumerated() {
            vg_lv2_connect(&code, UInt32(port), values + index)
        }
        var block = scratch
        for slots in [(inputs, ports.audioInputs.count), (outputs, ports.audioOutputs.count)] {
            for index in 0..<slots.1 {
                slots.0[index].connected = block
                vg_lv2_connect(&code, slots.0[index].port, block)
                block += maxBlock
            }
        }
        let urids = URIDs(URIDMap.shared)
        for (index, entry) in ports.atoms.enumerated() {
            if atoms[index].isInput { atoms[index].clear(urids) } else { atoms[index].offer(urids) }
            vg_lv2_connect(&code, UInt32(entry.port), atoms[index].memory)
        }
        for port in ports.unconnected { vg_lv2_connect(&code, UInt32(port), nil) }
    }
}

/// What belongs to an instance and stays when it gets other buffers.
struct PluginParts: BitwiseCopyable {
    /// Nil: the plugin has no worker.
    var worker: UnsafeMutablePointer<WorkerCore>?
    /// Nil: the plugin is told nothing.
    var patches: PacketRingEnds?
    /// Room for one message.
    var patch: UnsafeMutableRawPointer
    /// Nil: the plugin tells nothing.
    var answers: PacketRingEnds?
    var pause: UnsafeMutablePointer<PluginPause>
}

extension AtomPort {
    /// A port's buffer, at least as large as its plugin asks for.
    fileprivate init(_ port: PluginPort, midi: Int?, takesPatches: Bool, tellsPatches: Bool) {
        self.takesPatches = takesPatches
        self.tellsPatches = tellsPatches
        // Room behind the end, for plugins that count a header twice.
        let slack = 64
        let bytes = (max(Int(sequenceSize), port.minimumSize) + 7) & ~7
        // Zero pages take no memory until they are written: some plugins ask for 50 MB.
        isOld = port.kind == .events
        let header = isOld ? Self.eventHeaderSize : Self.headerSize
        memory = calloc(1, header + bytes + slack)!
        capacity = UInt32(clamping: bytes)
        self.midi = midi ?? -1
        isInput = port.isInput
        wantsTime = port.supportsTime
    }
}

extension PluginInfo {
    fileprivate func specialParameters(
        _ ports: PortLayout, rate: Float, _ fires: [Int: Float]
    ) -> [SpecialParameter] {
        ports.parameters.enumerated().compactMap { index, place in
            let port = self.ports[place]
            guard port.isTrigger || port.followsRate || port.source != .given else { return nil }
            let range = ports.layout.parameters[index].range
            let scale = port.followsRate ? rate : 1
            let low = port.followsRate ? (port.minimum ?? range.lowerBound) * scale : range.lowerBound
            let high = port.followsRate ? (port.maximum ?? range.upperBound) * scale : range.upperBound
            let rest = ports.layout.parameters[index].defaultValue
            return SpecialParameter(
                source: port.source, index: index, minimum: min(low, high), maximum: max(low, high),
                isTrigger: port.isTrigger, rest: rest, first: fires[index] ?? rest, last: rest)
        }
    }
}
