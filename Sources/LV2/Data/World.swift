// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit
import System

/// The installed LV2 plugins, as lilv knows them.
///
/// Nothing is read before it is needed: for a plugin that is asked for by its URI the manifests that mention it, a few
/// tens of microseconds each, and its data; all manifests where all plugins are asked for, or it is not found. lilv keeps
/// everything in one unguarded model, so every use of it goes through `locked`. [control]
public final class World: @unchecked Sendable {
    // Sendable: `lock` guards the model and what is kept of it; nothing else changes after `init`.

    /// The world of this process: `$LV2_PATH`, or else the usual folders. It is never freed: plugins keep pointers.
    public static let shared = World()

    /// Reentrant, because a plugin that is restored may call back for its features.
    private let lock = ReentrantLock()
    private let world: OpaquePointer
    /// The folders of bundles.
    let path: [String]
    /// Whether every manifest was read.
    private var loaded = false
    /// What plugins were asked for until then, and the bundles whose manifests were read for them.
    private var wanted: Set<String> = []
    private var known: Set<String> = []
    private var nodes: [UnsafePointer<CChar>: OpaquePointer] = [:]
    /// Folders that should be bundles: all, once a plugin was not found. Use it inside `locked`.
    private(set) var bundles: [String] = []
    /// Bundles that are not read, because they harm whoever does, with the reason. Use it inside `locked`.
    private(set) var harmful: [String: String] = [:]
    /// What is wrong with data that was read, in the words of those who read it. Use it inside `locked`.
    var messages: [String] {
        // Of all data: whoever asks does not mean some plugin's.
        loadAll()
        return noted
    }
    private var noted: [String] = []
    /// What names were found to mean. Use it inside `locked`.
    var resolved: [String: String] = [:]
    /// What a name that no plugin has is compared with, made for the first one: there may be thousands of them in a file.
    /// Use it inside `locked`.
    var search: SearchIndex?

    /// A world of the given bundle folders; nil: `$LV2_PATH`, or else the usual ones. [control]
    public init(path: [String]? = nil) {
        world = lilv_world_new()
        self.path = path ?? Self.defaultPath()
    }

    deinit {
        for node in nodes.values { lilv_node_free(node) }
        lilv_world_free(world)
    }

    /// Runs `body` with lilv, which no other thread uses meanwhile. [control]
    func locked<Result, Failure>(_ body: (Lilv) throws(Failure) -> Result) throws(Failure) -> Result {
        try lock.locked { () throws(Failure) -> Result in try body(Lilv(world: world, owner: self)) }
    }

    /// Adds one bundle, wherever it lies. [control]
    public func add(bundle: String) {
        locked { _ in
            loadAll()
            var lines: [String] = []
            LilvMessages.collect(into: &lines) { loadManifest(of: bundle) }
            note(lines)
            resolved = [:]
            search = nil
        }
    }

    /// Keeps what was said of data that was read. Call it inside `locked`.
    fileprivate func note(_ lines: [String]) {
        noted = Array((noted + lines).suffix(LilvMessages.limit))
    }

    /// The node of a constant URI, kept for the world's life. Call it inside `locked`.
    fileprivate func node(_ uri: UnsafePointer<CChar>) -> OpaquePointer {
        if let node = nodes[uri] { return node }
        let node = lilv_new_uri(world, uri)!
        nodes[uri] = node
        return node
    }

    /// Reads every manifest. Call it inside `locked`.
    fileprivate func loadAll() {
        guard !loaded else { return }
        loaded = true
        load { _ in true }
        (wanted, known) = ([], [])
    }

    /// Reads the manifests that mention a plugin; for many plugins all, which is less work. Call it inside `locked`.
    fileprivate func load(mentioning uri: String) {
        guard !loaded, !wanted.contains(uri) else { return }
        // However it is spelt, this part of it is there; but for escapes.
        let part = shortNames(of: uri)[0]
        guard wanted.count < 3, !part.isEmpty else { return loadAll() }
        wanted.insert(uri)
        load { fileMentions($0, part) }
    }

    private func load(_ isWanted: (_ manifest: String) -> Bool) {
        var lines: [String] = []
        var found: [String] = []
        for folder in path {
            for name in names(in: folder) where !name.hasPrefix(".") && !known.contains("\(folder)/\(name)") {
                let bundle = "\(folder)/\(name)"
                if isWanted(bundle + "/manifest.ttl") { found.append(bundle) }
            }
        }
        let faults = BundleGuard.faults(of: found)
        LilvMessages.collect(into: &lines) {
            for bundle in found {
                known.insert(bundle)
                if let fault = faults[bundle] { harmful[bundle] = fault } else { loadManifest(of: bundle) }
            }
        }
        note(lines + faults.sorted { $0.key < $1.key }.map { "\($0.key) is left out: \($0.value)" })
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
        func find() -> OpaquePointer? { lilv_plugins_get_by_uri(lilv_world_get_all_plugins(world), node) }
        owner.load(mentioning: uri)
        if let plugin = find() { return plugin }
        owner.loadAll()
        return find()
    }

    /// Every installed plugin. Shared: not to be freed.
    func plugins() -> [OpaquePointer] {
        owner.loadAll()
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

    /// A shared node's number; a boolean is 0 or 1. Nil: it is neither.
    func number(_ node: OpaquePointer?) -> Float? {
        if lilv_node_is_bool(node) { return lilv_node_as_bool(node) ? 1 : 0 }
        return lilv_node_is_float(node) || lilv_node_is_int(node) ? lilv_node_as_float(node) : nil
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

/// Whether the last part of a URI stands in a file, or may stand there in another spelling. A file that cannot be read
/// mentions nothing.
private func fileMentions(_ path: String, _ part: String) -> Bool {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_size > 0 else { return false }
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: Int(status.st_size) + 1)
    defer { bytes.deallocate() }
    let count = read(file, bytes, Int(status.st_size))
    guard count > 0 else { return false }
    bytes[count] = 0
    if strchr(bytes, 0x5C) != nil { return true }
    var place = strstr(bytes, part)
    while let found = place {
        // Where the part stands, a prefix or a folder ends before it, and what names a plugin ends with it.
        let before = found == bytes ? 0 : UInt8(bitPattern: found[-1])
        let after = UInt8(bitPattern: found[part.utf8.count])
        if "/#:<".utf8.contains(before), !isWordByte(after) { return true }
        place = strstr(found + 1, part)
    }
    return false
}

/// Whether a name goes on with it: letters, digits, `_`, `-`, and all beyond ASCII.
private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), 128...: true
    default: false
    }
}
