// SPDX-License-Identifier: Apache-2.0
import Control
import Drivers
import Host
import JSON
import System

/// The hosts that run, and sockets that others have left.
struct RunningHosts: Sendable {
    /// A node at which sound leaves a graph.
    struct Output: Sendable {
        var name: String
        var isMuted = false
        /// The loudest sample, linear; nil: not known.
        var peak: Double?
    }

    /// One of them.
    struct Entry: Sendable {
        var name: String
        /// Why it did not answer; nil: it did.
        var fault: String?
        /// "running", "stalled", "lost", "waiting"
        var state = "running"
        var driver = ""
        var server = ""
        /// What is to be known of the driver.
        var notice = ""
        /// By name, with the reason.
        var degraded: [(node: String, reason: String)] = []
        var outputs: [Output] = []
        /// Names of all nodes that are muted.
        var muted: [String] = []
    }

    var hosts: [Entry] = []
    var stale: [String] = []

    /// What there is to say of them; `ports`: those of the server that each plays to, where that was asked.
    func findings(ports: (Entry) -> [ServerLook.Port]?) -> [Finding] {
        let area = DoctorArea.hosts
        var findings = hosts.flatMap { host in host.findings(ports(host)) }
        if hosts.isEmpty { findings.append(area.fine("no host is running")) }
        if !stale.isEmpty {
            findings.append(
                area.fine("left by runs that were killed, and removed by the next: \(stale.joined(separator: ", "))"))
        }
        return findings
    }

    /// Asks all of them. [control]
    static func read(patience: Int) -> RunningHosts {
        let folder = ControlFolder.standard()
        guard folder.fault() == nil else { return RunningHosts() }
        // All at a time; who hangs has its own patience.
        let asked = folder.running().map { name in (name, Reading { Entry.ask(name, patience: patience) }) }
        var result = RunningHosts(stale: folder.stale())
        let deadline = monotonicSeconds() + Double(patience) + 0.4
        result.hosts = asked.map { name, reading in
            reading.value(by: deadline) ?? Entry(name: name, fault: "it takes too long")
        }
        return result
    }
}

extension RunningHosts.Entry {
    fileprivate func findings(_ ports: [ServerLook.Port]?) -> [Finding] {
        let area = DoctorArea.hosts
        if let fault {
            return [area.warning("'\(name)' does not answer: \(fault)", do: "end it, or let it go on (kill -CONT)")]
        }
        let place = server.isEmpty ? driver : "\(driver) '\(server)'"
        var findings: [Finding] = []
        switch state {
        case "running": break
        case "stalled":
            findings.append(
                area.error("'\(name)' is silent: its server \(place) has stopped", do: "look at that server, above"))
        case "waiting" where driver == "alsa":
            findings.append(
                area.error(
                    "'\(name)' is silent: it waits for its sound card, which was not there yet",
                    do: "plug it in; the run plays through it by itself"))
        case "waiting":
            findings.append(
                area.error(
                    "'\(name)' is silent: it waits for its server \(place), which was not there yet",
                    do: "start the server; the run plays through it by itself"))
        default:
            findings.append(
                area.error(
                    "'\(name)' is silent: its server \(place) is gone",
                    do: "start the server; the run comes back by itself"))
        }
        if !notice.isEmpty {
            findings.append(area.warning("'\(name)': \(notice)", do: "choose another driver with --driver"))
        }
        for (node, reason) in degraded {
            findings.append(
                area.warning("'\(name)': \(node) is not well: \(reason)", do: "mend that, then voicegraph ctl reload"))
        }
        for node in muted {
            findings.append(
                area.warning("'\(name)': \(node) is muted", do: "voicegraph ctl --client \(name) mute \(node) off"))
        }
        for output in outputs {
            let own = ports?.filter { $0.name.hasPrefix("\(name):\(output.name)_") && !$0.isInput } ?? []
            if !own.isEmpty, own.allSatisfy(\.connections.isEmpty) {
                findings.append(
                    area.warning(
                        "'\(name)': \(output.name) is connected to nothing",
                        do:
                            "jack_connect \(own[0].name) system:playback_1, or connect = [\"system:playback_*\"] in the file"
                    ))
            }
            if let peak = output.peak, peak < 1e-5, state == "running" {
                findings.append(
                    area.warning(
                        "'\(name)': nothing came to \(output.name) just now",
                        do: "voicegraph ctl --client \(name) judge tells what comes in, and nodes what is set"))
            }
        }
        if findings.isEmpty { findings.append(area.fine("'\(name)' plays by \(place)")) }
        return findings
    }

    /// Asks a host what it measures, what it plays and how loud that is. [control]
    fileprivate static func ask(_ name: String, patience: Int) -> RunningHosts.Entry {
        var entry = RunningHosts.Entry(name: name)
        do throws(Fault) {
            let client = try ControlClient(name, patience: patience)
            let status = try client.call("status").answer["status"] ?? .null
            entry.state = status["state"]?.string ?? "running"
            entry.driver = status["driver"]?.string ?? ""
            entry.server = status["server"]?.string ?? ""
            entry.notice = status["notice"]?.string ?? ""
            entry.degraded = (status["degraded"]?.fields ?? [:]).sorted { $0.key < $1.key }.map {
                ($0.key, $0.value.string ?? "")
            }
            let nodes = try client.call("nodes").answer["nodes"]?.items ?? []
            let levels = try client.call("levels", ["seconds": .number(0.2)]).answer["levels"] ?? .null
            for node in nodes {
                let isMuted = node["mute"]?.bool == true
                guard let named = node["name"]?.string else { continue }
                if isMuted { entry.muted.append(named) }
                guard node["type"]?.string == StandardType.output else { continue }
                entry.outputs.append(
                    RunningHosts.Output(name: named, isMuted: isMuted, peak: levels[named]?.double))
            }
        } catch { entry.fault = error.message }
        return entry
    }
}
