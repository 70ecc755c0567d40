// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// What is served to anybody: the page, the element and what they load. All of it is part of the program.
enum PageFiles {
    /// A file as it is, and as it is sent to whoever takes gzip.
    private struct File {
        var type: String
        var bytes: ByteBuffer
        var zipped: ByteBuffer?

        init(_ type: String, _ bytes: [UInt8]) {
            (self.type, self.bytes) = (type, ByteBuffer(bytes: bytes))
            zipped = gzipped(self.bytes)
        }
    }

    private static let all = [
        "/": File("text/html; charset=utf-8", PackageResources.index_html),
        "/embed.html": File("text/html; charset=utf-8", PackageResources.embed_html),
        "/embed.js": File(script, PackageResources.embed_js),
        "/page.css": File("text/css; charset=utf-8", PackageResources.page_css),
        "/orb.js": File(script, PackageResources.orb_js),
        "/page.js": File(script, PackageResources.page_js),
        "/archive.js": File(script, PackageResources.archive_js),
        "/bubbles.js": File(script, PackageResources.bubbles_js),
        "/charts.js": File(script, PackageResources.charts_js),
        "/colors.js": File(script, PackageResources.colors_js),
        "/dictation.js": File(script, PackageResources.dictation_js),
        "/dom.js": File(script, PackageResources.dom_js),
        "/drawing.js": File(script, PackageResources.drawing_js),
        "/ease.js": File(script, PackageResources.ease_js),
        "/face.js": File(script, PackageResources.face_js),
        "/frequencies.js": File(script, PackageResources.frequencies_js),
        "/graph.css": File("text/css; charset=utf-8", PackageResources.graph_css),
        "/graph.js": File(script, PackageResources.graph_js),
        "/graph-adding.js": File(script, PackageResources.graph_adding_js),
        "/graph-drawing.js": File(script, PackageResources.graph_drawing_js),
        "/graph-inspector.js": File(script, PackageResources.graph_inspector_js),
        "/graph-links.js": File(script, PackageResources.graph_links_js),
        "/graph-pane.js": File(script, PackageResources.graph_pane_js),
        "/graph-wiring.js": File(script, PackageResources.graph_wiring_js),
        "/hold.js": File(script, PackageResources.hold_js),
        "/live.js": File(script, PackageResources.live_js),
        "/look.js": File(script, PackageResources.look_js),
        "/meters.js": File(script, PackageResources.meters_js),
        "/nodes.js": File(script, PackageResources.nodes_js),
        "/parameters.js": File(script, PackageResources.parameters_js),
        "/parts.js": File(script, PackageResources.parts_js),
        "/problems.js": File(script, PackageResources.problems_js),
        "/recall.js": File(script, PackageResources.recall_js),
        "/session.js": File(script, PackageResources.session_js),
        "/sound.js": File(script, PackageResources.sound_js),
        "/talk.js": File(script, PackageResources.talk_js),
        "/transcript.js": File(script, PackageResources.transcript_js),
        "/voice-graph.js": File(script, PackageResources.voice_graph_js),
        "/web-audio.js": File(script, PackageResources.web_audio_js),
        "/words.js": File(script, PackageResources.words_js),
        "/voice-graph.d.ts": File("text/plain; charset=utf-8", PackageResources.voice_graph_d_ts),
        "/icon.svg": File("image/svg+xml", PackageResources.icon_svg),
    ]

    /// The words that the element says, as words.js names them.
    static let words = String(decoding: PackageResources.words_js, as: UTF8.self)
        .matches(of: /(?m)(?:^\t|, )'?([a-z-]+)'?: '/).map { String($0.1) }.sorted()

    private static let script = "text/javascript; charset=utf-8"

    /// Each program has pages of its own, so that one that was kept would be of another version.
    static func response(_ path: String, accepting encodings: [Substring]) -> Response? {
        guard let file = all[path] else { return nil }
        let zipped = encodings.contains { $0.hasPrefix("gzip") && !$0.hasSuffix("q=0") } ? file.zipped : nil
        var response = Response(.ok, file.type, zipped ?? file.bytes)
        if zipped != nil { response.headers.add(name: "Content-Encoding", value: "gzip") }
        response.headers.add(name: "Cache-Control", value: "no-cache")
        response.headers.add(name: "Vary", value: "Accept-Encoding")
        return response
    }
}
