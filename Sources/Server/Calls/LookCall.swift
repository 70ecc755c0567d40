// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import GraphFile
import Host
import NIOCore
import NodeKit

/// How the graph's file wants pages and elements to look.
struct Look: Sendable {
    private let web: WebDescription
    /// The image that stands for the assistant, as it is served to anybody.
    let logo: Response?

    /// What is served as an image, by the end of the file's name.
    private static let kinds = [
        "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp",
    ]
    /// Bytes that the image has at most.
    private static let limit = 1 << 20

    /// Reads the image; a word that the element does not say is refused. [control]
    init(_ web: WebDescription) throws(Fault) {
        self.web = web
        if let strange = web.texts.keys.sorted().first(where: { !PageFiles.words.contains($0) }) {
            var suggester = Suggester()
            throw Fault(
                "texts of [web]: there is no word '\(strange.prefix(60))'",
                hint: suggester.hint(
                    strange, among: PageFiles.words, otherwise: "words: \(PageFiles.words.joined(separator: ", "))"))
        }
        guard let path = web.logo else {
            logo = nil
            return
        }
        let end = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard let kind = Self.kinds[end] else {
            throw Fault("logo of [web]: \(path) is no SVG, PNG, JPEG or WebP", hint: "its name tells what it is")
        }
        var entry = stat()
        // Opening a pipe would wait for whoever writes into it.
        guard stat(path, &entry) != 0 || entry.st_mode & S_IFMT == S_IFREG else {
            throw Fault("logo of [web]: \(path) is no file")
        }
        guard let file = fopen(path, "re") else {
            throw Fault("logo of [web]: cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.limit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0, count > 0, count <= Self.limit else {
            throw Fault("logo of [web]: \(path) is no image of at most 1 MB")
        }
        bytes.removeLast(bytes.count - count)
        var response = Response(.ok, kind, ByteBuffer(bytes: bytes))
        response.headers.add(name: "Cache-Control", value: "no-cache")
        logo = response
    }

    /// The call that tells it.
    var call: HostCall {
        HostCall(
            "look", "how [web] wants pages and elements to look", change: false, right: .visitor,
            results: [
                Field("texts", VG_TABLE, "what the element says otherwise, by names of words.js"),
                Field("theme", VG_STRING, "light, dark or system; none: as the page says"),
                Field("logo", VG_STRING, "the path of the image for its button; none: the element's own"),
                Field("state", VG_STRING, "expanded: a conversation begins by itself; collapsed"),
            ]
        ) { [web, hasLogo = logo != nil] _, _ in
            let told: [(String, SettingValue?)] = [
                ("texts", .table(web.texts.mapValues(SettingValue.string))), ("theme", web.theme.map { .string($0) }),
                ("logo", hasLogo ? .string("logo") : nil), ("state", .string(web.state ?? "collapsed")),
            ]
            return told.compactMap { key, value in value.map { (key, $0) } }
        }
    }
}
