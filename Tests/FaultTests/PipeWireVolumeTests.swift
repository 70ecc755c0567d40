// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// What a voice does to the volumes of others under PipeWire.
@Suite(
    "Volumes under PipeWire", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: PipeWire.canPlay, "needs pipewire-bin: apt install pipewire-bin"))
struct PipeWireVolumeTests {
    private static let words = (1...60).map { "This is number \($0)." }.joined(separator: " ")

    private static func graph(_ name: String) -> String {
        """
        [graph]
        name = "\(name)"
        links = ["voice -> speakers"]
        [node.voice]
        type = "tts"
        duck_others = true
        [node.speakers]
        type = "output"
        """
    }

    private static let music = "music", news = "notification"

    private func start(
        _ server: PipeWire, _ name: String = "first", variables: [String: String] = [:]
    ) async throws -> Session {
        let environment = server.environment.merging(variables) { $1 }
        let session = try Session(Self.graph(name), ["--driver", "dummy"], environment: environment)
        try await session.plays()
        return session
    }

    /// Waits until streams have volumes, of full scale.
    private func expect(
        _ wanted: [String: Double], _ server: PipeWire, _ what: String, _ session: Session? = nil
    ) async throws {
        do {
            try await eventually("\(what): \(wanted)") {
                let volumes = try await server.volumes()
                return wanted.allSatisfy { name, volume in volumes[name].map { abs($0 - volume) < 1e-4 } ?? false }
            }
        } catch let error as NeverHappened {
            let volumes = try await server.volumes()
            throw NeverHappened(
                description:
                    "\(error.description), but \(volumes)\n\(session?.run.lines.filter { $0.contains("lowered") } ?? [])"
            )
        }
    }

    private func speak(_ session: Session, _ text: String = words) async throws {
        try await session.done("ctl", "do", "voice", "speak", "text=\(text)")
    }

    @Test("O5: What others play is lowered while a voice speaks, but no notification, and given back as it was")
    func lowered() async throws {
        let server = PipeWire(try Scratch())
        try await server.start()
        let players = try [Self.music, Self.news, "film"].map { try server.player($0) }
        try await server.set("film", 0.4, after: "film plays")
        let session = try await start(server)
        try await expect([Self.music: 1, Self.news: 1, "film": 0.4], server, "nobody speaks")
        try await speak(session)
        let low = pow(10, -12.0 / 20)
        try await expect([Self.music: low, Self.news: 1, "film": 0.4 * low], server, "it speaks", session)
        // One that begins meanwhile, and one that somebody else turns, nearly to where it was on its way down.
        let late = try server.player("late")
        try await expect(["late": low], server, "it still speaks", session)
        try await server.set("film", 0.2)
        try await session.done("ctl", "do", "voice", "pause")
        try await expect([Self.music: 1, Self.news: 1, "film": 0.2, "late": 1], server, "it is paused", session)
        try await session.done("ctl", "do", "voice", "resume")
        try await expect([Self.music: low, "film": 0.2 * low, "late": low], server, "it goes on", session)
        try await session.done("ctl", "do", "voice", "stop")
        try await expect([Self.music: 1, Self.news: 1, "film": 0.2, "late": 1], server, "it is stopped", session)
        try await session.end()
        for player in players + [late] { player.signal(SIGTERM) }
        try await server.end()
    }

    @Test(
        "O5: Volumes are given back by a host that is killed, and one voice after another has them",
        arguments: [SIGKILL, SIGTERM])
    func killed(_ signal: Int32) async throws {
        let server = PipeWire(try Scratch())
        try await server.start()
        let player = try server.player(Self.music)
        try await expect([Self.music: 1], server, "nobody speaks")
        let low = pow(10, -12.0 / 20)
        let (first, second) = (try await start(server), try await start(server, "second"))
        try await speak(first)
        try await expect([Self.music: low], server, "one speaks")
        try await speak(second)
        first.run.signal(signal)
        try await first.run.end()
        // Never by twice as much, and not for ever.
        try await expect([Self.music: low], server, "the other speaks")
        try await second.done("ctl", "do", "voice", "stop")
        try await expect([Self.music: 1], server, "nobody speaks any more")
        try await second.end()
        player.signal(SIGTERM)
        try await server.end()
    }

    /// What is wrong with PipeWire, and what ends a speech there.
    enum Trouble: CaseIterable {
        /// Each volume takes its time: a speech is stopped, or before anything is lowered, or the host ends.
        case slowStop, slowStopAtOnce, slowEnd
        /// What plays is left out of the answers while somebody else sets a volume, and after that.
        case forgetfulStop
        /// No answer comes for a while, after somebody else has set a volume: a speech is stopped, or the host ends, which
        /// does not wait for that long.
        case silentStop, silentEnd

        var isSilent: Bool { self == .silentStop || self == .silentEnd }
        var isEnd: Bool { self == .slowEnd || self == .silentEnd }
        /// Programs in front of PipeWire's.
        var programs: [String] { isSilent ? ["pw-dump", "pw-cli"] : self == .forgetfulStop ? ["pw-dump"] : ["pw-cli"] }
        /// What they do before that. One tells by a file that it was asked.
        var script: String {
            let real = "exec $(PATH=${PATH#*:}; command -v ${0##*/}) \"$@\"\n"
            return switch self {
            case .slowStop, .slowEnd: "sleep 1.5\n" + real
            case .slowStopAtOnce: "touch \"$0.asked\"\nsleep 3\n" + real
            case .forgetfulStop:
                "[ -e \"$0.forgets\" ] && echo '[\n]' && exit\n" + real
            case .silentStop, .silentEnd:
                "for drop in 1 2 3 4; do\n  rm \"$0.drop$drop\" 2>/dev/null && sleep 3 && exit 1\ndone\n" + real
            }
        }
    }

    @Test(
        "O5: Volumes are given back where PipeWire takes long to set them, or leaves out what plays",
        arguments: Trouble.allCases)
    func busy(_ trouble: Trouble) async throws {
        let server = PipeWire(try Scratch())
        try await server.start()
        let player = try server.player(Self.music)
        try await expect([Self.music: 1], server, "nobody speaks")
        let programs = try Scratch()
        for program in trouble.programs {
            chmod(try programs.write(program, "#!/bin/sh\n" + trouble.script), 0o755)
        }
        let usual = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let session = try await start(server, variables: ["PATH": "\(programs.path):\(usual)"])
        try await speak(session)
        if trouble == .slowStopAtOnce {
            try await eventually("it is about to be lowered") { access("\(programs.path)/pw-cli.asked", F_OK) == 0 }
        } else {
            try await eventually("it is lowered") { try await server.volumes()[Self.music] ?? 1 < 0.9 }
        }
        var wanted = 1.0
        if trouble.isSilent || trouble == .forgetfulStop {
            wanted = 0.7
            // Somebody who turns it on its way down is overruled.
            try await expect([Self.music: pow(10, -12.0 / 20)], server, "it is lowered", session)
            if trouble == .forgetfulStop { _ = try programs.write("pw-dump.forgets", "") }
            try await server.set(Self.music, wanted)
        }
        if trouble.isSilent {
            for program in trouble.programs {
                // A list is asked for three times, a volume twice.
                for count in 1...(program == "pw-dump" ? 4 : 1) {
                    _ = try programs.write("\(program).drop\(count)", "")
                }
            }
        }
        if trouble.isEnd { try await session.end() } else { try await session.done("ctl", "do", "voice", "stop") }
        try await expect([Self.music: wanted], server, "nobody speaks any more", session)
        if !trouble.isEnd { try await session.end() }
        // And not for a moment only: who gives them back is gone, too.
        let flock = ["flock", "-w", "60", "\(server.scratch.path)/voicegraph-others.lock", "true"]
        try await runTool(flock, environment: server.environment)
        try await expect([Self.music: wanted], server, "the host is gone")
        player.signal(SIGTERM)
        try await server.end()
    }

    @Test("O5: Without PipeWire it is said once that nobody is lowered, and all is spoken") func alone() async throws {
        let session = try Session(Self.graph("first"), ["--driver", "dummy"])
        try await session.plays()
        for count in 1...2 {
            try await speak(session, "One.")
            try await session.run.wait("it was said") { _ in session.count("speech.finished") == count }
        }
        try await session.end()
        let lines = session.run.lines.filter { $0.contains("other programs play is not lowered") }
        #expect(lines.count == 1 && lines[0].contains("Host is down"), "\(lines)")
    }
}

extension PipeWire {
    /// Whether programs can play through it here.
    static let canPlay = FaultTests.isInstalled("pipewire", "pw-jack", "pw-cat", "pw-dump", "pw-cli", "flock")

    /// A program that plays a long tone as a stream of this name, and of this role.
    func player(_ name: String) throws -> Program {
        let file = "\(scratch.path)/tone.wav"
        if !FileManager.default.fileExists(atPath: file) {
            let tone = (0..<4_800_000).map { Float($0 % 40 < 20 ? 0.1 : -0.1) }
            try SoundFile(rate: 8000, samples: [tone]).write(file)
        }
        let role = name.prefix(1).uppercased() + name.dropFirst()
        return try Program(
            ["pw-cat", "-p", "--media-role", role, "-P", "{ node.name = \(name) }", file], environment: environment)
    }

    /// The volume of each stream that plays, by its name.
    func volumes() async throws -> [String: Double] { try await streams().mapValues(\.volume) }

    /// Sets the volume of a stream, once it is there.
    func set(_ name: String, _ volume: Double, after what: String = "") async throws {
        try await eventually("\(name) is there") { try await self.streams()[name] != nil }
        let id = try #require(try await streams()[name]).id
        try await runTool(
            ["pw-cli", "set-param", "\(id)", "Props", "{ volume: \(volume) }"], environment: environment)
        // The stream itself sets it, some time after the tool has ended.
        try await eventually("\(name) has it") {
            try await self.streams()[name].map { abs($0.volume - volume) < 1e-4 } == true
        }
    }

    private func streams() async throws -> [String: (id: Int, volume: Double)] {
        let text = try await runTool(["pw-dump"], environment: environment).output
        // A second list may follow.
        let list = text.components(separatedBy: "\n]\n")[0] + "\n]"
        var result: [String: (id: Int, volume: Double)] = [:]
        for object in (try? JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]) ?? [] {
            guard let info = object["info"] as? [String: Any], let facts = info["props"] as? [String: Any],
                facts["media.class"] as? String == "Stream/Output/Audio", let name = facts["node.name"] as? String,
                let params = info["params"] as? [String: Any],
                let volume = (params["Props"] as? [[String: Any]])?.first?["volume"] as? Double,
                let id = object["id"] as? Int
            else { continue }
            result[name] = (id, volume)
        }
        return result
    }
}
