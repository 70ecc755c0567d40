// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit
import System

/// The side of a trial that runs in a process of its own, where a plugin may do what it likes.
///
/// Standard input has a line `URI TAB bundle TAB seconds` for each plugin, with how long it is to run; without a URI only the
/// bundle's data is read. What is about to be done with it is told on standard
/// output, `INDEX SPACE step`, and in the end `INDEX done` or `INDEX refused reason`: who reads that knows where the process was when it ended.
public enum PluginScanChild {
    /// Tries every plugin of standard input and ends the process. [control]
    public static func serve() -> Never {
        // Plugins print what they like, which must not get among what is told.
        let report = dup(STDOUT_FILENO)
        dup2(STDERR_FILENO, STDOUT_FILENO)
        // A thread of a pool blocks signals, those by which a plugin gives up among them.
        unblockSignals()
        let world = World(path: [])
        var index = 0
        while let line = readLine() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if fields.count == 3 {
                let number = index
                PluginStep.listener = { step in
                    // A process that nobody waits for any more must not hang for ever.
                    alarm(120)
                    tell(report, "\(number) \(step.rawValue)\n")
                }
                // As above, before there is a step.
                alarm(120)
                world.add(bundle: fields[1])
                if fields[0].isEmpty {
                    readData(of: fields[1], world)
                    tell(report, "\(number) done\n")
                    index += 1
                    continue
                }
                let refusal = attempt(fields[0], seconds: Double(fields[2]) ?? 0, world)
                tell(report, refusal.map { "\(number) refused \(field($0))\n" } ?? "\(number) done\n")
            }
            index += 1
        }
        // Without the exit handlers of whatever the plugins loaded.
        _exit(0)
    }

    /// Reads all that a host could ever read of a bundle.
    private static func readData(of bundle: String, _ world: World) {
        _ = IndexedBundle(reading: bundle)
        for plugin in world.installed(names: true) where world.bundle(of: plugin.uri) == bundle {
            guard let info = try? PluginInfo(world, uri: plugin.uri) else { continue }
            _ = try? PortLayout(info)
            _ = PluginState.defaultState(of: plugin.uri, world)
            _ = world.presets(of: plugin.uri)
            _ = try? world.describe(plugin.uri)
        }
    }

    /// Why the plugin cannot run, as the host would be told too; nil: it ran.
    private static func attempt(_ uri: String, seconds: Double, _ world: World) -> String? {
        do throws(NodeError) {
            let info = try PluginInfo(world, uri: uri)
            try Features.check(info)
            try info.checkBinary()
            let ports = try PortLayout(info)
            let states = info.wantsDefaultState ? PluginState.defaultState(of: uri, world).map { [$0] } ?? [] : []
            let instance = try PluginInstance(
                info, ports, ports.layout.parameters.map(\.defaultValue), states: states, patches: [],
                Preparation(rate: 48_000, maxBlock: 256), log: PluginLog(URIDs(URIDMap.shared)), world: world)
            instance.activate()
            var block = 0
            let end = monotonicSeconds() + seconds
            while block < 8 || monotonicSeconds() < end {
                run(instance, inputs: ports.audioInputs.count, block)
                block += 1
                if seconds > 0 { usleep(5000) }  // about as often as a sound card
            }
            if instance.hasState {
                PluginStep.tell(.save)
                let state = instance.savedState()
                PluginStep.tell(.restore)
                if let state { instance.restore(state) }
                wait(for: instance.worker)
                // What it restored may be bad for it.
                run(instance, inputs: ports.audioInputs.count, block)
            }
            instance.deactivate()
            return nil
        } catch {
            return error.message
        }
    }

    /// One block of noise, with a note that begins in the first and ends in the fifth.
    private static func run(_ instance: PluginInstance, inputs: Int, _ block: Int) {
        let processor = instance.processor
        var seed = UInt32(truncatingIfNeeded: block &+ 1)
        for input in 0..<inputs {
            let samples = processor.inputs[input].connected
            for frame in 0..<256 {
                seed = seed &* 1_664_525 &+ 1_013_904_223
                samples[frame] = Float(Int32(bitPattern: seed)) / Float(1 << 33)
            }
        }
        if let extras = processor.extras {
            for index in 0..<extras.pointee.atomCount {
                let atom = extras.pointee.atoms[index]
                guard atom.isInput else {
                    atom.offer(extras.pointee.urids)
                    continue
                }
                atom.clear(extras.pointee.urids)
                guard atom.midi >= 0, block % 4 == 0 else { continue }
                let note: [UInt8] = [block == 0 ? 0x90 : 0x80, 60, 100]
                atom.append(frame: 0, type: extras.pointee.urids.midiEvent, size: 3)?
                    .copyMemory(from: note, byteCount: 3)
            }
        }
        var code = processor.code
        PluginStep.tell(.run)
        vg_lv2_run(&code, 256)
        guard let worker = processor.extras?.pointee.worker else { return }
        wait(for: instance.worker)
        PluginStep.tell(.workResponse)
        deliverWaiting(worker)
        PluginStep.tell(.endRun)
        endRun(worker)
    }

    /// Work goes on while the plugin runs, but here it ends before something else begins: so it is known which of both
    /// it is that goes wrong. Work that never ends is found out by the parent.
    private static func wait(for worker: PluginWorker) { while !worker.isIdle { usleep(200) } }
}

private func tell(_ descriptor: Int32, _ text: String) {
    var text = text
    text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
}
