// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Where a recording goes, and in which format.
struct RecordTarget {
    /// With what stands for date and time in it; of a stream, what it is called.
    let template: String
    /// Whether nothing stands for date and time in it.
    let isLiteral: Bool
    /// An open file that gets it as it comes; nil: it goes to a file of its own.
    let stream: Int32?
    let encoding: Encoding
    /// Hz and channels of the file; nil: those of the audio.
    let rate: Double?
    let channels: Int?
    /// Whether a WAV says when it was recorded (EBU Tech 3285).
    var isStamped = false
    /// Frames that are left out at the start.
    var skip = 0
    /// Frames at the end that are kept back until the recording is finished, which may cut them.
    var hold = 0

    /// Checks suffix and folder, or the stream; writes nothing. `channels`: of the audio. [control]
    init(
        _ path: String, _ wishes: Encoding.Wishes, channels: Int, stream: Int32? = nil, isLiteral: Bool
    ) throws(NodeError) {
        let own = wishes.channels ?? channels
        if own != channels, own != 1, channels != 1 {
            throw NodeError(
                "cannot make \(own) channels of \(channels)", hint: "1, which is their mean, or \(channels)",
                key: Encoding.Wishes.channels.name)
        }
        encoding = try Encoding(stream == nil ? path : ".wav", wishes, channels: own)
        rate = wishes.rate
        self.channels = wishes.channels
        self.stream = stream
        template = path
        self.isLiteral = isLiteral
        if let stream {
            guard [O_WRONLY, O_RDWR].contains(fcntl(stream, F_GETFL) & O_ACCMODE) else {
                throw NodeError("the file \(stream) is not open for writing", key: Record.stream.name)
            }
            return
        }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if access(folder.isEmpty ? "/" : folder, W_OK) != 0 {
            throw NodeError(
                "cannot write to the folder \(folder): \(String(cString: strerror(errno)))",
                hint: "make it with mkdir -p, or choose another", key: Record.path.name)
        }
        if path.hasSuffix("/") || !isLiteral && stamped(path, at: 0) == nil {
            throw NodeError(
                "\(path) is no name of a file", hint: "name one, such as takes/%Y-%m-%d.wav", key: Record.path.name)
        }
    }

    /// The path of a recording that begins now.
    func path(now: time_t) -> String { isLiteral ? template : stamped(template, at: now) ?? template }
}

/// The name of a file with the local time filled in: {date}, {time}, and what `strftime` knows behind a per cent sign. Only
/// the name, not its folder, has such signs; nil: nothing is left of it.
private func stamped(_ path: String, at time: time_t) -> String? {
    var now = time
    var parts = tm()
    localtime_r(&now, &parts)
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    var name = replace("{time}", "%H-%M-%S", replace("{date}", "%Y-%m-%d", String(path[slash...])))
    if name.isEmpty { return nil }
    if name.contains("%") {
        var text = [CChar](repeating: 0, count: 1024)
        let count = strftime(&text, text.count, name, &parts)
        if count == 0 { return nil }
        // A slash, as in %D, would be a folder.
        name = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "-")
    }
    return path[..<slash] + name
}

private func replace(_ word: String, _ value: String, _ text: String) -> String {
    var text = text
    while let range = text.firstRange(of: word) { text.replaceSubrange(range, with: value) }
    return text
}
