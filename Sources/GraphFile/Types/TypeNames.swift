// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension NodeCatalog {
    /// What to do about a type that there is none of.
    package func hint(for type: String, _ suggester: inout Suggester) -> String {
        if type.contains("://") || type.hasPrefix("urn:") {
            return "a plugin is named beside its type: type = \"lv2\", plugin = \"\(shortened(type))\""
        }
        // Before what is spelt alike: a "mic" is no "mix".
        let word = type.lowercased()
        if let foreign = foreignFormats[word] {
            return "\(foreign) plugins are not supported; many exist as LV2, which is: `voicegraph lv2 list`"
        }
        if word == "osc", types["tone"] != nil {
            return "Open Sound Control is not supported; an oscillator is of type \"tone\""
        }
        let other = types.keys.sorted().first {
            types[$0].map { words(TypeExtensions($0.type.pointee).otherNames?.pointee.names) }?.contains(word) == true
        }
        if let other {
            return other == "lv2"
                ? "type = \"lv2\" and plugin = \"...\": `voicegraph lv2 list` lists the plugins that are installed"
                : "did you mean '\(other)'?"
        }
        let places =
            pluginFolders.isEmpty
            ? ""
            : "; one of a plugin of your own needs its folder by --plugin-path or $VOICEGRAPH_PLUGIN_PATH, or the plugin in "
                + (pluginFolders.count == 1 ? "" : "one of ") + pluginFolders.prefix(6).joined(separator: ", ")
        return suggester.hint(type, among: names, otherwise: "`voicegraph nodes` lists the types there are" + places)
    }
}

/// Formats of plugins that cannot be loaded.
private let foreignFormats = [
    "ladspa": "LADSPA", "dssi": "DSSI", "vst": "VST", "vst2": "VST", "vst3": "VST3", "clap": "CLAP", "au": "Audio Unit",
]
