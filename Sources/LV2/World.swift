// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit

/// The installed LV2 plugins, as lilv knows them.
///
/// At first use only the manifests of the bundles are read, a few tens of microseconds each; what a bundle says of
/// one plugin is read when that plugin is asked for. lilv keeps everything in one unguarded model, so every use of it
/// goes through `locked`. [control]
public final class World: @unchecked Sendable {
    // Sendable: `mutex` guards the model and what is kept of it; nothing else changes after `init`.

    /// The world of this process: `$LV2_PATH`, or else the usual folders. It is never freed: plugins keep pointers.
    public static let shared = World()

    /// Recursive, because a plugin that is restored may call back for its features.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let world: OpaquePointer
    /// The folders of bundles.
    let path: [String]
    private var loaded = false
    private var nodes: [UnsafePointer<CChar>: OpaquePointer] = [:]
    /// Every folder that should be a bundle. Use it inside `locked`.
    private(set) var bundles: [String] = []
    /// What is wrong with data that was read, in the words of those who read it. Use it inside `locked`.
    private(set) var complaints: [String] = []
    /// What names were found to mean. Use it inside `locked`.
    var resolved: [String: String] = [:]

    /// A world of the given bundle folders; nil: `$LV2_PATH`, or else the usual ones. [control]
    public init(path: [String]? = nil) {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
        world = lilv_world_new()
        self.path = path ?? Self.defaultPath()
    }

    deinit {
        for node in nodes.values { lilv_node_free(node) }
        lilv_world_free(world)
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with lilv, which no other thread uses meanwhile. [control]
    func locked<Result, Failure>(_ body: (Lilv) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if !loaded {
            loaded = true
            var lines: [String] = []
            Complaints.collect(into: &lines) { for folder in path { loadManifests(of: folder) } }
            note(lines)
        }
        return try body(Lilv(world: world, owner: self))
    }

    /// Adds one bundle, wherever it lies. [control]
    public func add(bundle: String) {
        locked { _ in
            var lines: [String] = []
            Complaints.collect(into: &lines) { loadManifest(of: bundle) }
            note(lines)
            resolved = [:]
        }
    }

    /// Keeps what was said of data that was read. Call it inside `locked`.
    fileprivate func note(_ lines: [String]) {
        complaints = Array((complaints + lines).suffix(Complaints.limit))
    }

    /// The node of a constant URI, kept for the world's life. Call it inside `locked`.
    fileprivate func node(_ uri: UnsafePointer<CChar>) -> OpaquePointer {
        if let node = nodes[uri] { return node }
        let node = lilv_new_uri(world, uri)!
        nodes[uri] = node
        return node
    }

    private func loadManifests(of folder: String) {
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if !name.hasPrefix(".") { loadManifest(of: folder + "/" + name) }
        }
    }

    /// lilv_world_load_all would also read the vocabularies of LV2 itself, which costs more than all manifests.
    private func loadManifest(of bundle: String) {
        bundles.append(bundle)
        guard access(bundle + "/manifest.ttl", R_OK) == 0 else { return }
        let node = lilv_new_file_uri(world, nil, bundle + "/")
        lilv_world_load_bundle(world, node)
        lilv_node_free(node)
    }

    /// `$LV2_PATH`, or else the usual folders; each once.
    static func defaultPath() -> [String] {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let given = getenv("LV2_PATH").map { String(cString: $0) } ?? ""
        let text = given.isEmpty ? "~/.lv2:/usr/local/lib/lv2:/usr/lib/lv2:/usr/lib64/lv2" : given
        var seen: Set<String> = []
        var result: [String] = []
        for part in text.split(separator: ":") {
            let folder = part.hasPrefix("~/") ? home + part.dropFirst() : String(part)
            guard let real = realpath(folder, nil) else { continue }
            defer { free(real) }
            if seen.insert(String(cString: real)).inserted { result.append(folder) }
        }
        return result
    }
}

/// lilv's model while the world is locked; do not keep it.
struct Lilv {
    let world: OpaquePointer
    fileprivate let owner: World

    /// Keeps what was said of data that was read.
    func note(_ lines: [String]) { owner.note(lines) }

    /// The node of a constant of the C module.
    func constant(_ uri: UnsafePointer<CChar>) -> OpaquePointer { owner.node(uri) }

    /// The plugin with this URI, if installed. Shared: not to be freed.
    func plugin(_ uri: String) -> OpaquePointer? {
        guard let node = lilv_new_uri(world, uri) else { return nil }
        defer { lilv_node_free(node) }
        return lilv_plugins_get_by_uri(lilv_world_get_all_plugins(world), node)
    }

    /// Every installed plugin. Shared: not to be freed.
    func plugins() -> [OpaquePointer] {
        let all = lilv_world_get_all_plugins(world)
        var result: [OpaquePointer] = []
        var position = lilv_plugins_begin(all)
        while !lilv_plugins_is_end(all, position) {
            if let plugin = lilv_plugins_get(all, position) { result.append(plugin) }
            position = lilv_plugins_next(all, position)
        }
        return result
    }

    /// A plugin's URI.
    func uri(of plugin: OpaquePointer) -> String { text(lilv_plugin_get_uri(plugin)) }

    /// A plugin's name in the user's language; reads the plugin's data.
    func name(of plugin: OpaquePointer) -> String { take(lilv_plugin_get_name(plugin)) ?? "" }

    /// A shared node's text.
    func text(_ node: OpaquePointer?) -> String {
        lilv_node_as_string(node).map { String(cString: $0) } ?? ""
    }

    /// The text of a node that is ours, which is freed.
    func take(_ node: OpaquePointer?) -> String? {
        guard let node else { return nil }
        defer { lilv_node_free(node) }
        return text(node)
    }

    /// The texts of a collection that is ours, which is freed.
    func take(list: UnsafeMutableRawPointer?) -> [String] {
        defer { lilv_nodes_free(list) }
        return texts(list)
    }

    /// The texts of a shared collection.
    func texts(_ list: UnsafeRawPointer?) -> [String] {
        guard let list else { return [] }
        var result: [String] = []
        var position = lilv_nodes_begin(list)
        while !lilv_nodes_is_end(list, position) {
            result.append(text(lilv_nodes_get(list, position)))
            position = lilv_nodes_next(list, position)
        }
        return result
    }

    /// The object of a statement, as text.
    func object(of subject: OpaquePointer?, _ predicate: UnsafePointer<CChar>) -> String? {
        guard let subject else { return nil }
        return take(lilv_world_get(world, subject, constant(predicate), nil))
    }
}
