// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit

/// A bundle that cannot be read: one without a manifest, or with mistakes in it.
struct DamagedBundle {
    var path: String
    var reason: String

    /// Whether a text, without capitals, stands in its data.
    func speaks(of text: String) -> Bool {
        entries(of: path).contains { name in
            name.hasSuffix(".ttl") && readText(path + "/" + name)?.lowercased().contains(text) == true
        }
    }
}

extension World {
    /// The bundles that cannot be read. Takes a look at every bundle. Call it inside `locked`.
    func damagedBundles() -> [DamagedBundle] {
        harmful.map { DamagedBundle(path: $0.key, reason: $0.value) }
            + bundles.compactMap { bundle in manifestMistake(bundle).map { DamagedBundle(path: bundle, reason: $0) } }
    }

    private func manifestMistake(_ bundle: String) -> String? {
        let manifest = bundle + "/manifest.ttl"
        guard access(manifest, R_OK) == 0 else {
            return errno == ENOENT ? "it has no manifest.ttl" : "manifest.ttl: \(String(cString: strerror(errno)))"
        }
        do throws(TurtleMistake) { try readTurtle(manifest) { _ in } } catch { return error.brief }
        return nil
    }
}

extension PluginInfo {
    /// Throws if a plugin of which lilv sees no ports has some in its data. Call it inside `World.locked`.
    func checkData(_ lilv: Lilv, _ plugin: OpaquePointer) throws(NodeError) {
        var count = 0
        for file in lilv.texts(lilv_plugin_get_data_uris(plugin)) {
            guard let local = lilv_file_uri_parse(file, nil) else { continue }
            defer { lilv_free(local) }
            do throws(TurtleMistake) {
                try readTurtle(String(cString: local)) { statement in
                    if strcmp(statement.predicate, VG_CORE__port) == 0, strcmp(statement.subject, uri) == 0 {
                        count += 1
                    }
                }
            } catch {
                throw unloadable(error.brief, "its data is damaged; install the plugin's package again")
            }
        }
        guard count == 0 else {
            throw unloadable(
                "the indices of its \(count) ports are not 0 to \(count - 1)", "its data is damaged")
        }
    }
}
