// SPDX-License-Identifier: Apache-2.0

/// The colours of a drawn graph, on light ground and on dark.
enum Palette {
    /// What has a colour.
    enum Role: String, CaseIterable {
        case ground, box, edge, text, quiet, failed, audio, control, midi, message
    }

    static func light(_ role: Role) -> String {
        switch role {
        case .ground: "#ffffff"
        case .box: "#f7f8fa"
        case .edge: "#cfd5de"
        case .text: "#1b2330"
        case .quiet: "#6b7686"
        case .failed: "#c9510c"
        case .audio: "#0f9d76"
        case .control: "#c98a00"
        case .midi: "#8a4fd3"
        case .message: "#2474d8"
        }
    }

    static func dark(_ role: Role) -> String {
        switch role {
        case .ground: "#14171c"
        case .box: "#1e232b"
        case .edge: "#3a424e"
        case .text: "#e8ebf0"
        case .quiet: "#96a0af"
        case .failed: "#ff9f5a"
        case .audio: "#3fd6a4"
        case .control: "#f2bd4b"
        case .midi: "#bb8cff"
        case .message: "#6cb0ff"
        }
    }

    /// What browsers do beyond the attributes: a dark drawing for who prefers that, and a wire that is pointed at.
    static var style: String {
        ".link:hover{stroke-width:3.5;stroke-opacity:1}\n@media (prefers-color-scheme:dark){\(darkRules)}"
    }

    /// What makes a dark drawing of a light one.
    static var darkRules: String {
        let kinds: [Role] = [.audio, .control, .midi, .message]
        let fills = [("ground", Role.ground), ("text", .text), ("quiet", .quiet), ("box", .box), ("track", .edge)]
        var rules = fills.map { ".\($0.0){fill:\(dark($0.1))}" }
        rules += [
            ".box,.mark{stroke:\(dark(.edge))}", ".failed{stroke:\(dark(.failed))}",
            ".level.failed{fill:\(dark(.failed))}",
            ".halo,.port{stroke:\(dark(.ground))}",
        ]
        rules += kinds.map { ".link.\($0){stroke:\(dark($0))}.port.\($0),.level.\($0){fill:\(dark($0))}" }
        return rules.joined()
    }
}

extension GraphSketch.Kind {
    /// Its colour.
    var role: Palette.Role {
        switch self {
        case .audio: .audio
        case .control: .control
        case .midi: .midi
        case .message: .message
        }
    }
}
