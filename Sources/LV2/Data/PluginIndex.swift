// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import System

/// What a list of plugins shows of one.
public struct ListedPlugin: Sendable, Equatable {
    /// What names it for certain.
    public var uri: String
    /// What its author calls it; the short name where the data gives none.
    public var name: String
    /// The last part of the URI, by which a file can name it if no other plugin has the same.
    public var shortName: String
    /// What it is: "Reverb", "Instrument"; empty: just a plugin.
    public var category: String
    /// The folder that describes it.
    public var bundle: String
}

/// The list of all installed plugins, made without lilv: its model of all data takes seconds, reading the files for
/// names and classes a fraction of one. What was read is kept in a file, so that the next time only the bundles that
/// changed are read.
public struct PluginIndex: Sendable {
    /// By URI.
    public private(set) var plugins: [ListedPlugin] = []
    /// How many bundles were read anew.
    public private(set) var bundlesRead = 0

    /// The plugins in the given folders of bundles; nil: `$LV2_PATH`, or else the usual ones. `cache` is the file that
    /// keeps what was read; nil: none. With `keeps` false it is read and not written. [control]
    public init(path: [String]? = nil, cache: String? = nil, keeps: Bool = true) {
        let known = cache.map(IndexedBundle.load) ?? [:]
        var bundles: [IndexedBundle] = []
        var seen: Set<String> = []
        let paths = (path ?? World.defaultPath()).flatMap { folder in entries(of: folder).map { folder + "/" + $0 } }
        let current = known.filter { $0.value.isCurrent }
        let fresh = paths.filter { current[$0] == nil && access($0 + "/manifest.ttl", R_OK) == 0 }
        let faults = BundleGuard.faults(of: fresh)
        let wanted = Set(fresh).subtracting(faults.keys)
        for path in paths {
            if let entry = current[path] {
                bundles.append(entry)
            } else if wanted.contains(path) {
                bundles.append(IndexedBundle(reading: path))
                bundlesRead += 1
            }
        }
        for bundle in bundles {
            // Of two bundles with one plugin, the first counts.
            for plugin in bundle.plugins where seen.insert(plugin.uri).inserted { plugins.append(plugin) }
        }
        plugins.sort { $0.uri < $1.uri }
        guard let cache, keeps else { return }
        let found = Set(bundles.map(\.path))
        // Other searches, with another LV2_PATH, look elsewhere: what they found stays as long as it is there.
        let others = known.values.filter { !found.contains($0.path) }
        let kept = others.filter(\.isCurrent)
        if bundlesRead > 0 || kept.count != others.count {
            IndexedBundle.save(bundles + kept.sorted { $0.path < $1.path }, to: cache)
        }
    }

    /// The plugins of which every one of `words` is found, in any capitals: where a word of the name, the short name or the
    /// class begins, or the URI. With `anywhere` it may stand in the middle of them, too, and of the whole URI.
    public func matching(_ words: [String], anywhere: Bool = false) -> [ListedPlugin] {
        let wanted = words.map { $0.lowercased() }
        return plugins.filter { plugin in
            let uri = plugin.uri.lowercased()
            let text = "\(plugin.name)\n\(plugin.shortName)\n\(plugin.category)".lowercased()
            return wanted.allSatisfy { word in
                anywhere ? text.contains(word) || uri.contains(word) : uri.hasPrefix(word) || hasWord(word, in: text)
            }
        }
    }
}

/// Whether a word of `text` begins with `start`; both in small letters.
private func hasWord(_ start: String, in text: String) -> Bool {
    var rest = text[...]
    while let range = rest.firstRange(of: start) {
        if range.lowerBound == text.startIndex { return true }
        let before = text[text.index(before: range.lowerBound)]
        if !before.isLetter, !before.isNumber { return true }
        rest = rest[rest.index(after: range.lowerBound)...]
    }
    return false
}

/// The names in a folder but for hidden ones, in the order of the alphabet.
func entries(of folder: String) -> [String] { names(in: folder).filter { !$0.hasPrefix(".") }.sorted() }

/// A file's size, time of change and number, as text: a different file has a different one. Empty: there is none.
func fileStamp(_ path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { return "" }
    return "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec).\(status.st_size).\(status.st_ino)"
}
