// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile
import Host
import ModelStore
import NodeKit
import Testing

@testable import Doctor

/// What the doctor makes of machines that are not this one.
@Suite("Findings of the doctor") struct DoctorFindingsTests {
    private func texts(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.severity.rawValue): \($0.message)" }
    }

    private let look = ServerLook(
        rate: 48_000, block: 128, isRealtime: true,
        ports: [
            ServerLook.Port(name: "system:capture_1", isInput: false, isPhysical: true),
            ServerLook.Port(name: "system:playback_1", isInput: true, isPhysical: true),
        ])

    private func server(
        _ name: String = "default", _ command: String = "jackd -R -d alsa -d hw:1", priority: Int? = 70,
        state: String = "S", answer: ServerAnswer? = nil
    ) -> JackServers.Server {
        JackServers.Server(
            name: name, process: 812, state: state, command: command.split(separator: " ").map(String.init),
            priority: priority, answer: answer ?? .answered(look))
    }

    @Test(
        "The driver of a server and its device are read from its command",
        arguments: [
            ("jackd -d alsa -d hw:1 -p 128", "alsa", "hw:1"), ("jackd -R -P 70 -dalsa -dhw:0", "alsa", "hw:0"),
            ("jackd --driver alsa --device hw:PCH", "alsa", "hw:PCH"),
            ("/usr/bin/jackd -n x -d dummy -r 48000", "dummy", nil),
            ("jackd -d alsa -P hw:2 -C hw:1", "alsa", "hw:2"), ("jackdbus auto", nil, nil),
        ])
    func backend(_ command: String, _ driver: String?, _ device: String?) {
        let found = server("default", command).backend
        #expect(found?.driver == driver && found?.device == device)
    }

    @Test("What `voicegraph run` plays to is told, and whether it is heard")
    func sound() {
        var path = SoundPath()
        #expect(path.findings().map(\.severity) == [.error])
        path.pipeWire = PipeWireState(
            socket: "/run/pipewire-0", answer: .answered(look), library: "/usr/lib/libjack.so.0")
        #expect(texts(path.findings()) == ["fine: `voicegraph run` plays to PipeWire"])
        path.pipeWire.answer = .answered(ServerLook(rate: 48_000, block: 128, isRealtime: true, ports: []))
        #expect(
            texts(path.findings()) == ["error: `voicegraph run` would play to PipeWire, which has no device to play to"]
        )
        path.pipeWire.answer = .silent
        #expect(path.findings()[0].severity == .error && path.findings()[0].hint.hasPrefix("restart PipeWire"))
        path.servers.servers = [server()]
        #expect(texts(path.findings()) == ["fine: `voicegraph run` plays to the JACK server 'default'"])
        path.servers.servers = [server("default", "jackd -d dummy")]
        #expect(path.findings().first?.severity == .warning)
        path.servers.servers = [server(state: "T", answer: .silent)]
        #expect(path.findings().first?.severity == .error)
        #expect(path.findings().first?.hint == "let it go on: kill -CONT 812")
        path.servers.servers = [server(answer: .silent)]
        #expect(path.findings().first?.hint.contains("kill -KILL 812") == true)
        // One of another user, or that was killed, is none.
        path.pipeWire = PipeWireState()
        var other = server()
        other.isOwn = false
        path.servers.servers = [other]
        #expect(path.findings().first?.severity == .error)
    }

    @Test("Where there is nothing to play to, the ways out are those that this machine has")
    func remedies() {
        var path = SoundPath()
        #expect(path.findings()[0].hint == "give this machine a sound card")
        path.cards.cards = ["hw:0 (HDA Intel PCH)", "hw:1 (USB Audio)"]
        #expect(path.findings()[0].hint == "play to a sound card with --driver alsa")
        path.cards.holders = [.init(card: 0, process: 4711, program: "firefox", isPlaying: true)]
        #expect(path.findings()[0].hint == "play to a sound card with --driver alsa:hw:1")
        path.servers.isInstalled = false
        #expect(path.findings()[0].hint == "apt install jackd2, then --driver alsa:hw:1")
        path.servers.servers = [server("studio")]
        #expect(path.findings()[0].hint.hasPrefix("choose another server (--server studio), or "))
        path.pipeWire.isInstalled = true
        #expect(path.findings()[0].hint.hasPrefix("start PipeWire (systemctl --user start pipewire wireplumber), or "))
        path.pipeWire.socket = "/run/user/1000/pipewire-0"
        #expect(path.findings()[0].hint.hasPrefix("apt install pipewire-jack, or "))
    }

    @Test("A file that wants a driver, a server or a card is told whether there is one")
    func wantedDriver() {
        var path = SoundPath()
        path.wanted.kind = .alsa
        path.wanted.device = "hw:3"
        path.cards.cards = ["hw:0 (HDA Intel PCH)"]
        #expect(texts(path.findings()) == ["error: there is no sound card hw:3, which the file wants"])
        #expect(path.findings()[0].hint == "there is hw:0 (HDA Intel PCH)")
        path.wanted.device = "hw:0,0"
        #expect(path.findings()[0].severity == .fine)
        path.cards.holders = [.init(card: 0, process: 4711, program: "firefox", isPlaying: true)]
        #expect(path.findings()[0].message.contains("is held by firefox (process 4711)"))
        path.cards.cards.append("hw:1 (USB Mic)")
        path.wanted.capture = "hw:1"
        path.wanted.device = "hw:2"
        #expect(texts(path.findings()) == ["error: there is no sound card hw:2, which the file wants"])
        path.wanted.device = nil
        path.cards.holders = []
        #expect(path.findings().map(\.severity) == [.warning, .fine])
        #expect(path.findings()[0].message.hasPrefix("hw:0 and hw:1 are two cards with two clocks"))
        path.cards.holders = [.init(card: 1, process: 4711, program: "arecord", isPlaying: false)]
        #expect(path.findings()[0].message.contains("is held by arecord (process 4711)"))
        path.wanted = DriverDescription()
        path.wanted.kind = .jack
        path.wanted.server = "studio"
        #expect(path.findings()[0].message == "no JACK server named 'studio' is running, which the file wants")
        path.servers.servers = [server("studio")]
        #expect(path.findings()[0].severity == .fine && path.look == look)
        path.wanted.kind = .pipewire
        #expect(path.findings()[0].hint == "apt install pipewire-jack")
        path.wanted.kind = .dummy
        #expect(path.findings()[0].severity == .warning && path.look == nil)
    }

    @Test("Servers are told one by one: realtime or not, stopped, hung, killed, another user's")
    func servers() {
        var servers = JackServers(servers: [server()], keptNames: 1)
        #expect(
            servers.findings()[0].message
                == "the server 'default' runs at 48000 Hz in blocks of 128 (2.7 ms), realtime 70 (driver alsa hw:1, "
                + "process 812)")
        servers.servers = [server(priority: nil)]
        #expect(servers.findings()[0].severity == .warning && servers.findings()[0].hint.contains("jackd -R"))
        servers.servers = [server(state: "T")]
        #expect(servers.findings()[0].hint == "let it go on: kill -CONT 812")
        servers.servers = [server(answer: .silent)]
        #expect(servers.findings()[0].message == "the server 'default' hangs: it does not answer (process 812)")
        servers.servers[0].isDead = true
        #expect(servers.findings()[0].severity == .fine)
        servers.keptNames = 8
        #expect(servers.findings().last?.severity == .warning)
        #expect(JackServers.processState("812 (jack (d)) T 1 812") == "T")
        #expect(JackServers.processState("") == "")
    }

    @Test("PipeWire is told as absent, without its libjack, hung, or without a device")
    func pipeWire() {
        #expect(PipeWireState().findings()[0].severity == .fine)
        var state = PipeWireState(socket: "/run/p", version: "1.2.0")
        #expect(state.findings()[0].hint == "apt install pipewire-jack")
        state.library = "/usr/lib/libjack.so.0"
        #expect(state.findings()[0].message == "PipeWire 1.2.0 hangs: it does not answer at /run/p")
        state.answer = .answered(look)
        #expect(state.findings()[0].severity == .fine)
        state.answer = .answered(ServerLook(rate: 48_000, block: 128, isRealtime: true, ports: []))
        #expect(state.findings()[0].message.contains("has no device to play to"))
        #expect(
            PipeWireState.version("pipewire\nCompiled with libpipewire 0.3.60\nLinked with libpipewire 0.3.65\n")
                == "0.3.65")
    }

    @Test("Who holds a card is found in the kernel's files")
    func cards() {
        #expect(CardUse.owner("closed\n") == nil)
        #expect(CardUse.owner("state: RUNNING\nowner_pid   : 4711\ntrigger_time: 1.2\n") == 4711)
        #expect(
            SoundCards.list(" 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n                      HDA at 0xdf\n")
                == ["hw:0 (HDA Intel PCH)"])
        #expect(CardUse().findings()[0].message == "there is no sound card")
        var use = CardUse(
            cards: ["hw:0 (PCH)"], holders: [.init(card: 0, process: 5, program: "pipewire", isPlaying: true)])
        #expect(texts(use.findings()) == ["fine: hw:0 (PCH) is used by pipewire (process 5)"])
        use.holders[0].program = "mpv"
        #expect(use.findings()[0].hint == "end that program (kill 5), or choose another card")
        use.holders = []
        use.forbidden = ["/dev/snd/pcmC0D0p"]
        #expect(
            texts(use.findings()) == ["warning: this user may not open /dev/snd/pcmC0D0p", "fine: hw:0 (PCH) is free"])
    }

    @Test("Without realtime rights it is said what to do: log in again, switch Debian's limits on, or set them")
    func rights() {
        var rights = RealtimeRights(priorityLimit: 95)
        #expect(rights.findings().allSatisfy { $0.severity == .fine })
        rights.grantsLow = false
        rights.priorityLimit = 0
        #expect(rights.findings()[0].hint.contains("@audio - rtprio 95"))
        rights.hasDisabledLimits = true
        #expect(rights.findings()[0].hint.hasPrefix("dpkg-reconfigure -p high jackd2"))
        rights.isInAudioGroup = false
        #expect(rights.findings()[0].hint.hasPrefix("log in again"))
        rights.runtime = 0
        #expect(rights.findings()[0].hint == "sysctl kernel.sched_rt_runtime_us=950000")
        rights = RealtimeRights(grantsHigh: false, priorityLimit: 20, lockable: 8 << 20)
        #expect(
            texts(rights.findings())[..<2] == [
                "warning: realtime threads are granted, but not with priority 70 (rtprio limit 20)",
                "warning: only 8 MiB may be locked: the sound's memory may be paged out",
            ])
        let group = RealtimeRights.audioGroup("root:x:0:\naudio:x:29:anna,bert\n")
        #expect(group?.number == 29 && group?.members == ["anna", "bert"])
    }

    @Test("Governors that lag, kernels without preemption and eager paging are told")
    func processor() {
        var state = ProcessorState(governors: ["powersave", "powersave"], kernel: "#1 SMP PREEMPT_DYNAMIC Debian 6.1")
        #expect(state.findings().map(\.severity) == [.warning, .fine])
        state.governors = ["performance", "schedutil"]
        state.commandLine = "quiet preempt=full threadirqs"
        #expect(state.findings()[1].message == "the kernel is preempted: full, interrupts in threads")
        state.commandLine = "preempt=none"
        #expect(state.findings()[1].severity == .warning)
        state = ProcessorState(kernel: "#1 SMP Debian 6.1", swappiness: 100, swap: 1000)
        #expect(state.findings().map(\.severity) == [.fine, .warning, .warning])
        state = ProcessorState(kernel: "#1 SMP PREEMPT_RT Debian", swappiness: 100)
        #expect(state.findings().allSatisfy { $0.severity == .fine })
        #expect(ProcessorState.swap("MemTotal: 100 kB\nSwapTotal:     2048 kB\n") == 2048)
    }

    @Test("Folders that cannot be written, disks and shared memory without room are told")
    func folders() {
        var state = FolderState(places: [.init(name: "data", path: "/home/user/data", free: 40 << 30)])
        state.shared = (1 << 30, 2 << 30)
        #expect(
            texts(state.findings()) == [
                "fine: data: /home/user/data, 40.0 GiB free",
                "fine: shared memory: 1.0 GiB of 2.0 GiB are free in /dev/shm",
            ])
        state.places[0].isWritable = false
        state.places[0].free = 100 << 20
        state.shared = (10 << 20, 64 << 20)
        state.hasRuntimeFolder = false
        state.socketFault = Fault("/run/x is open to other users", hint: "chmod 700 /run/x")
        #expect(state.findings().map(\.severity) == Array(repeating: .warning, count: 5))
        #expect(state.findings()[3].message.contains("only 100 MiB are free"))
        state.shared = nil
        #expect(state.findings().last?.message == "there is no /dev/shm, without which no JACK server runs")
    }

    @Test("Missing packages, damaged models and plugins that failed have what to install")
    func parts() {
        let types = NodeTypes(
            usable: 40, unavailable: [("tts", "libespeak-ng.so.1 is missing", "libespeak-ng1")],
            broken: [("odd.so", "is not a shared object", "")])
        #expect(types.findings()[0].hint == "apt install libespeak-ng1")
        #expect(types.findings()[1].hint == "move it out of the folder")
        let models = ModelStates(states: [("a", .damaged("x is missing")), ("b", .absent), ("c", .installed)])
        #expect(
            texts(models.findings()) == [
                "warning: a is damaged: x is missing", "fine: installed: c",
                "fine: not installed, and needed by nothing: b",
            ])
        let lv2 = LV2State(count: 2, failed: [("urn:x", "crashes in run (SIGSEGV)")])
        #expect(lv2.findings()[0].hint.hasPrefix("voicegraph lv2 scan urn:x "))
    }

    @Test("A host is told as silent, muted, unconnected or without sound")
    func hosts() {
        var host = RunningHosts.Entry(name: "voice", driver: "jack", server: "default")
        host.outputs = [.init(name: "out", peak: 0.5)]
        var hosts = RunningHosts(hosts: [host])
        let free = ServerLook.Port(name: "voice:out_1", isInput: false)
        #expect(texts(hosts.findings { _ in nil }) == ["fine: 'voice' plays by jack 'default'"])
        #expect(hosts.findings { _ in [free] }[0].message == "'voice': out is connected to nothing")
        hosts.hosts[0].outputs[0].peak = 0
        #expect(hosts.findings { _ in nil }[0].message == "'voice': nothing came to out just now")
        hosts.hosts[0].state = "lost"
        #expect(texts(hosts.findings { _ in nil }) == ["error: 'voice' is silent: its server jack 'default' is gone"])
        hosts.hosts[0].fault = "it may have been stopped"
        #expect(hosts.findings { _ in nil }.map(\.severity) == [.warning])
        #expect(texts(RunningHosts(stale: ["old"]).findings { _ in nil }).count == 2)
    }

    @Test("The models of a node are those that its settings ask for, or that make it better")
    func models() {
        func node(_ type: String, _ key: String = "", _ value: String = "") -> NodeDescription {
            NodeDescription(name: "n", type: type, entries: key.isEmpty ? [:] : [key: Entry(.string(value))])
        }
        let catalog = NodeRegistry(search: .standard()).fullCatalog()
        func models(_ type: String, _ key: String = "", _ value: String = "") -> (models: [String], isNeeded: Bool)? {
            GraphWants.models(of: node(type, key, value), needs: catalog.descriptor(type)?.needs ?? [])
                .map { ($0.models, $0.isNeeded) }
        }
        #expect(models("vad")?.isNeeded == false && models("vad", "detector", "auto")?.isNeeded == false)
        #expect(models("vad", "detector", "silero")?.isNeeded == true)
        #expect(models("vad", "detector", "webrtc") == nil)
        #expect(models("tts") == nil && models("gain") == nil && models("tts", "engine", "auto") == nil)
        #expect(models("tts", "engine", "piper")?.models == ["onnxruntime", "piper-joe"])
        #expect(models("denoise")?.models == ["onnxruntime", "gtcrn"] && models("denoise")?.isNeeded == true)
        #expect(models("turn")?.models == ["onnxruntime", "smart-turn"])
        #expect(models("turn", "model", "smart-turn")?.isNeeded == true)
        #expect(models("transcribe", "engine", "sherpa")?.models == ["onnxruntime", "sherpa-onnx"])
        #expect(models("transcribe", "engine", "moonshine")?.models == ["onnxruntime", "moonshine-base-en"])
        let wants = GraphWants(
            file: "x.conf", models: [("n", ["a", "piper-joe"], true), ("m", ["silero-vad"], false)])
        #expect(wants.findings(nil) { $0 == "a" }.map(\.severity) == [.warning, .fine])
        #expect(wants.findings(nil) { $0 == "a" }[0].hint == "voicegraph models install piper-joe")
        #expect(texts(wants.findings(nil) { _ in true }) == ["fine: x.conf: this machine has all that it wants"])
        #expect(!texts(wants.findings(nil, isHeard: false) { _ in true })[0].contains("all that it wants"))
    }

    @Test("The worst is told first, in lines that fit, with what to do behind an arrow")
    func text() {
        let findings = [
            DoctorArea.models.fine("installed"),
            DoctorArea.realtime.warning(String(repeating: "word ", count: 40), do: "act"),
            DoctorArea.sound.error("silent", do: "plug it in"),
        ]
        let text = DoctorText.text(findings, color: false)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "error    sound: silent" && lines[1] == "         -> plug it in" && lines[2] == "")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(text.hasSuffix("\n1 error, 1 warning; as it is, nothing will be heard\n"))
        #expect(DoctorText.text(findings, color: true).hasPrefix("\u{1B}[1;31merror    \u{1B}[0msound: silent\n"))
    }
}
