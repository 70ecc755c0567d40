// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit
import System

/// Tries plugins in a process of their own before they are let into this one: what crashes, ends the process or never
/// comes back there does no harm. What came of it is kept, in memory and in a file, until the bundle changes.
///
/// Off until it is told what to run, so that a program that embeds the host decides: `use` takes the command that
/// serves `PluginScanChild`. [control]
public final class PluginScan: Sendable {
    /// The one that lv2 nodes ask.
    public static let shared = PluginScan()

    private struct State {
        var process: ScanProcess?
        /// Whether plugins are tried, too, and not only data.
        var triesPlugins = false
        var cache: ScanCache
    }

    private let state = Lock(State(cache: ScanCache(path: nil)))

    /// One that lets every plugin pass.
    public init() {}

    /// From now on plugins are tried by a child that runs `command`. A plugin that does not come back from one call
    /// within `patience` seconds is given up. `cache` is the file that keeps the results; nil: they are kept in memory.
    public func use(_ command: [String], patience: Double = 10, cache: String?) {
        state.withLock {
            $0.process = ScanProcess(command: command, patience: patience)
            $0.triesPlugins = true
            $0.cache = ScanCache(path: cache)
        }
        if self === Self.shared { BundleGuard.use { Self.shared.dataFaults(of: $0) } }
    }

    /// The same for the data of plugins alone, unless plugins are tried already: every plugin may run.
    public func useForData(_ command: [String], patience: Double = 10, cache: String?) {
        guard state.withLock({ $0.process == nil }) else { return }
        use(command, patience: patience, cache: cache)
        state.withLock { $0.triesPlugins = false }
    }

    /// Why bundles must not be read here, by their folders: a child reads the data of those of which nothing is known.
    func dataFaults(of bundles: [String]) -> [String: String] {
        let data = bundles.map { ScannedPlugin(uri: "", bundle: $0) }
        var faults: [String: String] = [:]
        for (bundle, verdict) in zip(bundles, verdicts(data, again: false)) {
            if case .fault(let fault) = verdict { faults[bundle] = fault.text }
        }
        return faults
    }

    /// Tries those of the plugins, given by URI or name, about which nothing is known yet, all in one child. What is
    /// not installed is left to whoever needs it.
    public func prepare(_ wanted: some Sequence<String>, world: World = .shared) {
        guard state.withLock({ $0.triesPlugins }) else { return }
        let plugins = wanted.compactMap { name in
            (try? world.resolve(name)).flatMap { uri in
                world.bundle(of: uri).map { ScannedPlugin(uri: uri, bundle: $0) }
            }
        }
        _ = verdicts(plugins, again: false)
    }

    /// What came of trying a plugin: nil if there is nothing against it. Tries it if need be.
    func fault(of info: PluginInfo) -> NodeError? {
        let plugin = ScannedPlugin(uri: info.uri, bundle: info.bundle)
        guard case .fault(let fault)? = verdicts([plugin], again: false).first else { return nil }
        return fault.error(info.name, info.bundle)
    }

    /// Why the plugin with this URI cannot run; nil if nothing is against it. Tries it if need be.
    public func problem(with uri: String, world: World = .shared) -> String? {
        guard let bundle = world.bundle(of: uri) else { return nil }
        return verdicts([ScannedPlugin(uri: uri, bundle: bundle)], again: false).first?.reason
    }

    /// Tries plugins, given by URI or name, whatever is known of them; what is wrong with each, nil for nothing.
    public func tryAgain(_ wanted: [String], world: World = .shared) throws(NodeError) -> [(
        uri: String, fault: String?
    )] {
        var plugins: [ScannedPlugin] = []
        for name in wanted {
            let uri = try world.resolve(name)
            plugins.append(ScannedPlugin(uri: uri, bundle: world.bundle(of: uri) ?? ""))
        }
        let found = verdicts(plugins, again: true)
        return zip(plugins, found).map { plugin, verdict in
            (plugin.uri, verdict.reason)
        }
    }

    /// The plugins that cannot run here, by what a file of results says of bundles as they are now. Tries nothing. [control]
    public static func failures(in cache: String) -> [(uri: String, bundle: String, reason: String)] {
        ScanCache(path: cache).faults.filter { $0.plugin.stamp == $0.stamp }.map {
            ($0.plugin.uri.isEmpty ? "the bundle" : $0.plugin.uri, $0.plugin.bundle, $0.reason)
        }
    }

    /// One verdict per plugin; without a command to run, nothing is against any.
    private func verdicts(_ plugins: [ScannedPlugin], again: Bool) -> [ScanVerdict] {
        state.withLock { state in
            // Those without a URI are data.
            guard let process = state.process, state.triesPlugins || plugins.allSatisfy(\.uri.isEmpty) else {
                return plugins.map { _ in .fine }
            }
            let stamps = Dictionary(plugins.map { ($0, $0.stamp) }) { first, _ in first }
            var open: [ScannedPlugin] = []
            for plugin in plugins where !open.contains(plugin) {
                if again || state.cache.verdict(plugin, stamps[plugin]!) == nil { open.append(plugin) }
            }
            if !open.isEmpty {
                for (plugin, verdict) in zip(open, process.run(open)) {
                    state.cache.keep(plugin, stamps[plugin]!, verdict)
                }
                state.cache.save()
            }
            return plugins.map { state.cache.verdict($0, stamps[$0]!) ?? .fine }
        }
    }
}

/// A plugin, and the bundle that it comes from.
struct ScannedPlugin: Hashable, Sendable {
    /// Empty: the data of the bundle, of whatever plugins.
    var uri: String
    var bundle: String

    /// Changes with the bundle's code, with its manifest, and with the display, without which some plugins abort.
    var stamp: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ text: String) { for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
        let isData = uri.isEmpty
        for name in entries(of: bundle)
        where isData ? name.hasSuffix(".ttl") : name.hasSuffix(".so") || name == "manifest.ttl" {
            mix("\(name) \(fileStamp(bundle + "/" + name))\n")
        }
        for name in isData ? [] : ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"] {
            mix((getenv(name).map { String(cString: $0) } ?? "") + "\n")
        }
        return String(hash, radix: 16)
    }
}

/// What came of trying a plugin.
enum ScanVerdict: Equatable, Sendable {
    case fine
    /// It cannot run, and says so without harm: the host is told the same when it asks for the plugin.
    case refused(String)
    case fault(ScanFault)

    /// What is against the plugin.
    var reason: String? {
        switch self {
        case .fine: nil
        case .refused(let reason): reason
        case .fault(let fault): fault.text
        }
    }
}

/// How a trial went wrong.
struct ScanFault: Equatable, Sendable {
    /// "crashes in run (SIGSEGV)"
    var text: String
    /// The last line that it printed; may be empty.
    var said: String

    func error(_ name: String, _ bundle: String) -> NodeError {
        NodeError(
            "\(name) in \(bundle) \(text), as a trial in a process of its own showed",
            hint: (said.isEmpty ? "" : "it printed: \(said); ")
                + (said.contains("platform plugin") ? "QT_QPA_PLATFORM=offscreen spares it a display; " : "")
                + "trust = true runs it all the same, `voicegraph lv2 scan` tries it again")
    }
}

extension World {
    /// The folder of an installed plugin's bundle, without a slash at the end. Its data is not read. [control]
    func bundle(of uri: String) -> String? {
        locked { lilv in
            guard let plugin = lilv.plugin(uri), let text = lilv_node_get_path(lilv_plugin_get_bundle_uri(plugin), nil)
            else { return nil }
            defer { lilv_free(text) }
            var path = String(cString: text)
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            return path
        }
    }
}
