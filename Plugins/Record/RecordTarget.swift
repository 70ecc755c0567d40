// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Where a recording goes, and in which format.
struct RecordTarget {
    /// With {date} and {time} in it.
    let template: String
    let encoding: Encoding
    /// Frames that are left out at the start.
    var skip = 0
    /// Frames at the end that are kept back until the recording is finished, which may cut them.
    var hold = 0

    /// Checks suffix and folder; writes nothing. [control]
    init(_ path: String, _ wishes: Encoding.Wishes, channels: Int) throws(NodeError) {
        encoding = try Encoding(path, wishes, channels: channels)
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if access(folder.isEmpty ? "/" : folder, W_OK) != 0 {
            throw NodeError(
                "cannot write to the folder \(folder): \(String(cString: strerror(errno)))",
                hint: "make it with mkdir -p, or choose another", key: "path")
        }
        template = path
    }

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
