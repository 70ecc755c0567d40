// SPDX-License-Identifier: Apache-2.0
import CPeers
import Glibc
import Host

/// What callgrind counted outside the plugins: neither their instructions, nor those of what they call.
struct Profile {
    /// Of the program itself.
    var own = 0
    /// Of libjack and of the C library.
    var system = 0
    /// How often a plugin ran: calls of the function of theirs that costs most.
    var calls = 0

    var all: Int { own + system }

    private enum Owner { case plugin, program, system }

    init() {}

    /// Reads a file of callgrind; `plugin` is a part of the plugins' path.
    init(_ text: String, plugin: String) {
        var objects: [Substring: Owner] = [:]
        var (caller, callee) = (Owner.program, Owner.program)
        var entries: [Substring: (calls: Int, cost: Int)] = [:]
        var called: Substring = ""
        var isCall = false
        func owner(_ text: Substring) -> Owner {
            // "(3) /path" the first time, then "(3)".
            let parts = text.split(separator: " ", maxSplits: 1)
            if parts.count == 2 {
                let path = parts[1]
                let isSystem = ["/libjack", "/libc.so", "/libm.so", "/ld-linux", "/libstdc++", "/libgcc", "vdso"]
                    .contains { path.contains($0) }
                objects[parts[0]] = path.contains(plugin) ? .plugin : isSystem ? .system : .program
            }
            return objects[parts[0]] ?? .program
        }
        func add(_ cost: Int, to owner: Owner) {
            switch owner {
            case .plugin: break
            case .program: own += cost
            case .system: system += cost
            }
        }
        for line in text.split(separator: "\n") {
            if line.hasPrefix("ob=") {
                caller = owner(line.dropFirst(3))
                callee = caller
            } else if line.hasPrefix("cob=") {
                callee = owner(line.dropFirst(4))
            } else if line.hasPrefix("cfn=") {
                called = line.dropFirst(4).prefix { $0 != " " }
            } else if line.hasPrefix("calls=") {
                isCall = true
                if callee == .plugin, caller != .plugin {
                    entries[called, default: (0, 0)].calls += Int(line.dropFirst(6).prefix { $0 != " " }) ?? 0
                }
            } else if let first = line.utf8.first,
                first == 0x2B || first == 0x2D || first == 0x2A || (48...57).contains(first)
            {
                // A position and a cost; after "calls=" it is the cost of what was called, which is counted there too.
                let cost = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
                if !isCall {
                    add(cost, to: caller)
                } else if caller == .plugin, callee != .plugin {
                    add(-cost, to: callee)
                } else if callee == .plugin {
                    entries[called, default: (0, 0)].cost += cost
                }
                if isCall { (isCall, callee) = (false, caller) }
            }
        }
        calls = entries.values.max { $0.cost < $1.cost }?.calls ?? 0
    }
}

/// Programs under callgrind.
struct Callgrind {
    private let valgrind: String
    private let scratch: Scratch
    /// This program, without what valgrind cannot read.
    let own: String
    private let plugin = "/eg-amp.lv2/"

    /// nil: something is not installed.
    init?(_ scratch: Scratch) throws {
        guard let valgrind = program("valgrind"), let strip = program("strip") else { return nil }
        (self.valgrind, self.scratch) = (valgrind, scratch)
        own = scratch.place("benchmarks")
        // Valgrind gives up on debug information that is newer than itself.
        let stripped = try Child([strip, "--strip-debug", "-o", own, CommandLine.arguments[0]])
        guard stripped.waitForEnd(seconds: 60) == 0 else { throw BenchmarkError("strip: \(stripped.lastLines)") }
    }

    /// The whole of a command that ends by itself.
    func run(_ command: [String]) throws -> Profile {
        let file = scratch.place("whole.callgrind")
        let child = try Child(
            [valgrind, "--tool=callgrind", "--callgrind-out-file=\(file)"] + command,
            // The order of dictionaries would differ from run to run, and with it what the start costs.
            environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
        guard child.waitForEnd(seconds: 300) == 0, let text = readFile(file) else {
            throw BenchmarkError("callgrind: \(child.lastLines)")
        }
        return Profile(text, plugin: plugin)
    }

    /// The audio thread of a JACK client: the thread that calls the plugin most. With an `input` that never ends it is
    /// asked to end after so many seconds; others end by themselves.
    func audioThread(_ command: [String], server: Server, input: String? = nil, seconds: UInt32) throws -> Profile {
        let base = scratch.place("live.callgrind")
        let files = [base] + (1...20).map { scratch.place("live.callgrind-\($0 < 10 ? "0" : "")\($0)") }
        for file in files { unlink(file) }
        let whole = [valgrind, "--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=\(base)"] + command
        let child = try Child(
            input.map { ["/bin/sh", "-c", "exec \"$@\" <>\"$0\"", $0] + whole } ?? whole,
            environment: ["JACK_DEFAULT_SERVER": server.name, "SWIFT_DETERMINISTIC_HASHING": "1"])
        if input != nil {
            sleep(seconds)
            kill(child.id, SIGINT)
        }
        guard child.waitForEnd(seconds: 120) != nil else {
            child.stop()
            throw BenchmarkError("callgrind does not end: \(child.lastLines)")
        }
        let profiles = files.compactMap { readFile($0).map { Profile($0, plugin: plugin) } }
        guard let audio = profiles.max(by: { $0.calls < $1.calls }), audio.calls > 100 else {
            throw BenchmarkError("the plugin did not run: \(child.lastLines)")
        }
        return audio
    }
}

/// Where eg-amp's code is; nil: not installed.
func ampLibrary() -> String? {
    let folders = (currentEnvironment()["LV2_PATH"] ?? "/usr/local/lib/lv2:/usr/lib/lv2").split(separator: ":")
    return folders.map { "\($0)/eg-amp.lv2/amp.so" }.first { access($0, R_OK) == 0 }
}
