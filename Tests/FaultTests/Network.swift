// SPDX-License-Identifier: Apache-2.0
import Drivers
import Foundation
import Glibc
import TestSupport

/// Two hosts with a cable between them: network namespaces of this machine. They go away with the last reference.
final class Network: Sendable {
    /// Whether they can be made here.
    static let isPossible: Bool = {
        guard isRoot, isInstalled("ip") else { return false }
        return (try? Network()) != nil
    }()

    private let mark = "vgt\(getpid())"
    /// How each end is called, as a namespace and as the name of its interface.
    private var ends: [(space: String, link: String)] { ["a", "b"].map { ("\(mark)-\($0)", "\(mark)\($0)") } }

    init() throws {
        removeForgotten()
        for end in ends { try ip("netns", "add", end.space) }
        try ip(
            "link", "add", ends[0].link, "netns", ends[0].space, "type", "veth", "peer", "name", ends[1].link, "netns",
            ends[1].space)
        for (number, end) in ends.enumerated() {
            try ip("-n", end.space, "addr", "add", "10.77.0.\(number + 1)/24", "dev", end.link)
            try ip("-n", end.space, "link", "set", "lo", "up")
            try plug(number)
        }
    }

    deinit { for end in ends { try? ip("netns", "delete", end.space) } }

    /// What tests left behind that were killed.
    private func removeForgotten() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? [] {
            guard let process = name.firstMatch(of: /^vgt(\d+)-/).flatMap({ pid_t($0.1) }) else { continue }
            if kill(process, 0) != 0 && errno == ESRCH { try? ip("netns", "delete", name) }
        }
    }

    /// Pulls the cable at one end.
    func unplug(_ end: Int) throws { try ip("-n", ends[end].space, "link", "set", ends[end].link, "down") }

    /// Plugs it in again, as whoever looks after a host does.
    func plug(_ end: Int) throws {
        try ip("-n", ends[end].space, "link", "set", ends[end].link, "up")
        try ip("-n", ends[end].space, "route", "add", "224.0.0.0/4", "dev", ends[end].link)
    }

    /// Starts a program at one end.
    func start(_ end: Int, _ arguments: String...) throws -> Program { try start(end, arguments) }

    /// The same of a list of words.
    func start(_ end: Int, _ arguments: [String]) throws -> Program {
        try Program([Self.command, "netns", "exec", ends[end].space] + arguments)
    }

    private static let command = access("/usr/sbin/ip", X_OK) == 0 ? "/usr/sbin/ip" : "ip"

    private func ip(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [Self.command] + arguments
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_PRELOAD" }
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw NeverHappened(description: "ip \(arguments.joined(separator: " "))")
        }
    }
}
