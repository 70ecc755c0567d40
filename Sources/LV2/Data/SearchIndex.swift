// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What names of plugins in files are compared with. Each part is made when it is needed first, and once: a file may
/// hold thousands of names that no plugin has. Use it inside `World.locked`.
final class SearchIndex {
    private let uris: [String]
    private let parts: [String]
    /// URIs by their last parts, without capitals.
    private let byPart: [String: [String]]
    /// URIs by what the plugins' authors call them, without capitals; nil: nobody has asked yet.
    private var byName: [String: [String]]?
    /// What someone who mistyped a name may have meant.
    private var names: [String] = []
    private var damaged: [DamagedBundle]?

    init(_ lilv: Lilv) {
        uris = lilv.plugins().map { lilv.uri(of: $0) }
        let pairs = uris.flatMap { uri in Set(shortNames(of: uri)).map { ($0, uri) } }
        parts = Set(pairs.map(\.0)).sorted()
        byPart = Dictionary(grouping: pairs) { $0.0.lowercased() }.mapValues { Set($0.map(\.1)).sorted() }
    }

    /// The plugins whose URI ends in this.
    func plugins(endingIn part: String) -> [String] { byPart[part.lowercased()] ?? [] }

    /// The plugins that are called this. `all` reads what every plugin, by its URI, is called.
    func plugins(called name: String, all: () -> [String: String]) -> [String] {
        if byName == nil {
            let called = all()
            byName = Dictionary(grouping: called.keys) { called[$0]?.lowercased() ?? "" }
            names = Set(parts + called.values).sorted()
        }
        return byName?[name.lowercased()] ?? []
    }

    /// What may have been meant by a URI or a name that no plugin has, or what to do.
    func hint(_ wanted: String) -> String {
        let candidates = wanted.contains("://") ? uris : wanted.hasPrefix("urn:") ? parts : names
        let meant = didYouMean(wanted, among: candidates)
        if !meant.isEmpty { return meant }
        return uris.isEmpty
            ? "no LV2 plugins are installed; LV2_PATH names the folders searched"
            : "install the package that has it; \(uris.count) other plugins are installed"
    }

    /// The bundle that would have a plugin of this URI or name if it could be read, and why it cannot. `all` finds those
    /// that cannot be read.
    func damage(naming wanted: String, all: () -> [DamagedBundle]) -> NodeError? {
        let bundles = damaged ?? all()
        damaged = bundles
        let lowered = wanted.lowercased()
        guard let bundle = bundles.first(where: { $0.speaks(of: lowered) }) else { return nil }
        return NodeError(
            "the bundle \(bundle.path), which speaks of \(wanted), cannot be read: \(bundle.reason)",
            hint: "install the plugin's package again")
    }
}
