// SPDX-License-Identifier: Apache-2.0

/// What came of trying plugins, in memory and, with a path, in a file: a line for each, `stamp TAB URI TAB bundle`, and
/// behind that why it refused, or for a fault what it is and what the plugin said.
struct ScanCache {
    private static let heading = "voicegraph lv2 scan 1"
    private let path: String?
    private var known: [ScannedPlugin: (stamp: String, verdict: ScanVerdict)]

    init(path: String?) {
        self.path = path
        known = path.map(Self.load) ?? [:]
    }

    /// What is known of a plugin whose bundle has this stamp.
    func verdict(_ plugin: ScannedPlugin, _ stamp: String) -> ScanVerdict? {
        guard let entry = known[plugin], entry.stamp == stamp else { return nil }
        return entry.verdict
    }

    /// What speaks against plugins, with the stamps that their bundles had; by URI.
    var faults: [(plugin: ScannedPlugin, stamp: String, reason: String)] {
        known.compactMap { plugin, entry in entry.verdict.reason.map { (plugin, entry.stamp, $0) } }
            .sorted { $0.plugin.uri < $1.plugin.uri }
    }

    mutating func keep(_ plugin: ScannedPlugin, _ stamp: String, _ verdict: ScanVerdict) {
        known[plugin] = (stamp, verdict)
    }

    /// Writes what is known; what others wrote meanwhile stays. That it cannot be written costs time only.
    mutating func save() {
        guard let path else { return }
        known.merge(Self.load(path)) { own, _ in own }
        var text = Self.heading + "\n"
        for (plugin, entry) in known.sorted(by: { $0.key.uri < $1.key.uri }) {
            var fields = [entry.stamp, plugin.uri, plugin.bundle]
            switch entry.verdict {
            case .fine: break
            case .refused(let reason): fields.append(reason)
            case .fault(let fault): fields += [fault.text, fault.said]
            }
            text += fields.map(field).joined(separator: "\t") + "\n"
        }
        _ = writeText(text, to: path)
    }

    private static func load(_ path: String) -> [ScannedPlugin: (stamp: String, verdict: ScanVerdict)] {
        guard let text = readText(path) else { return [:] }
        let lines = text.split(separator: "\n")
        guard let first = lines.first, first == heading else { return [:] }
        var result: [ScannedPlugin: (stamp: String, verdict: ScanVerdict)] = [:]
        for line in lines.dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let verdict: ScanVerdict
            switch fields.count {
            case 3: verdict = .fine
            case 4: verdict = .refused(fields[3])
            case 5: verdict = .fault(ScanFault(text: fields[3], said: fields[4]))
            default: continue
            }
            result[ScannedPlugin(uri: fields[1], bundle: fields[2])] = (fields[0], verdict)
        }
        return result
    }
}
