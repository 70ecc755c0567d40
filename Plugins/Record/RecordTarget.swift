// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// Where a recording goes, and in which format.
struct RecordTarget {
    /// With {date} and {time} in it.
    let template: String
    /// Of libsndfile.
    let format: Int32

    /// Checks suffix and folder; writes nothing. [control]
    init(_ path: String, channels: Int) throws(NodeError) {
        let formats: [(String, Int)] = [
            (".wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT), (".flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24),
            (".ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS),
        ]
        guard let format = formats.first(where: { path.lowercased().hasSuffix($0.0) }) else {
            throw NodeError("cannot tell the format of \(path)", hint: "end it in .wav, .flac or .ogg", key: "path")
        }
        if format.0 == ".flac", channels > 8 {
            throw NodeError("FLAC holds 8 channels, not \(channels)", hint: "end it in .wav", key: "channels")
        }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if access(folder.isEmpty ? "/" : folder, W_OK) != 0 {
            throw NodeError(
                "cannot write to the folder \(folder): \(String(cString: strerror(errno)))",
                hint: "make it with mkdir -p, or choose another", key: "path")
        }
        template = path
        self.format = Int32(format.1)
    }

    /// Whether the file states its length at its head; the other formats would get a second head in their middle.
    var hasLength: Bool { template.lowercased().hasSuffix(".wav") }

    /// The path of a recording that begins now.
    func path(now: time_t) -> String {
        var now = now
        var parts = tm()
        localtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        let clock = "\(two(parts.tm_hour))-\(two(parts.tm_min))-\(two(parts.tm_sec))"
        return replace("{time}", clock, replace("{date}", date, template))
    }
}

private func replace(_ word: String, _ value: String, _ text: String) -> String {
    var text = text
    while let range = text.firstRange(of: word) { text.replaceSubrange(range, with: value) }
    return text
}
