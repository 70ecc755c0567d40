// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import NodeKit

/// A voice that has a name.
struct KnownVoice: Equatable {
    var name: String
    /// What the control `voice` says of it: the lowest that was free, from 1 on.
    var number: Int
    /// Of length 1.
    var vector: [Float]
    /// Windows that it was made of.
    var windows: Int

    /// Seconds of speech that it was made of.
    var seconds: Double { spokenSeconds(windows) }
}

/// Seconds of a speech that has so many windows.
func spokenSeconds(_ windows: Int) -> Double {
    windows == 0 ? 0 : Double((windows - 1) * VoiceModel.step + VoiceModel.samples) / speechRate
}

/// The voices of a folder: a file for each, which nobody else may read. It holds numbers from which no speech can be made.
final class KnownVoices: Sendable {
    private struct State {
        var voices: [KnownVoice] = []
        var changed = timespec()
    }

    /// The folder.
    let path: String
    private let state = Lock(State())
    private let warn: @Sendable (String) -> Void

    init(_ path: String, warn: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.warn = warn
        refresh()
    }

    /// By their names. [any]
    var voices: [KnownVoice] { state.withLock(\.voices) }

    /// Reads the folder again if it has changed, as another run may have done. [worker]
    func refresh() {
        var facts = stat()
        let changed = stat(path, &facts) == 0 ? facts.st_mtim : timespec()
        let isOld = state.withLock { $0.changed.tv_sec != changed.tv_sec || $0.changed.tv_nsec != changed.tv_nsec }
        guard isOld else { return }
        let voices = read()
        state.withLock { $0 = State(voices: voices, changed: changed) }
    }

    private func read() -> [KnownVoice] {
        names(in: path).filter { $0.hasSuffix(Self.end) }.sorted().compactMap { file in
            do throws(NodeError) { return try voice(file) } catch {
                warn("\(path)/\(file) is no voice: \(error.message)")
                return nil
            }
        }
    }

    private func voice(_ file: String) throws(NodeError) -> KnownVoice {
        var facts = stat()
        let path = "\(path)/\(file)"
        guard stat(path, &facts) == 0, facts.st_size < 1 << 16, let bytes = readFile(path) else {
            throw NodeError("it cannot be read")
        }
        guard let json = try? JSON(bytes), json["model"]?.string == VoiceModel.name else {
            throw NodeError("it is not one of \(VoiceModel.name)")
        }
        let numbers = json["vector"]?.items.compactMap { $0.double.map(Float.init) } ?? []
        guard let name = json["name"]?.string, name + Self.end == file, let number = json["number"]?.integer,
            number > 0, let windows = json["windows"]?.integer, windows > 0, numbers.count == VoiceModel.size,
            let vector = normalized(numbers)
        else { throw NodeError("it is not complete; forget it and enrol it again") }
        return KnownVoice(name: name, number: number, vector: vector, windows: windows)
    }

    /// Keeps a voice, in place of one with its name. [worker]
    func keep(_ name: String, _ vector: [Float], windows: Int) throws(NodeError) -> KnownVoice {
        refresh()
        let others = voices
        let number = others.first { $0.name == name }?.number ?? free(others)
        let voice = KnownVoice(name: name, number: number, vector: vector, windows: windows)
        let json = JSON.object([
            "name": .string(name), "number": .integer(Int64(number)), "model": .string(VoiceModel.name),
            "windows": .integer(Int64(windows)), "vector": .list(vector.map { .number(Double($0)) }),
        ])
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw NodeError("cannot make \(path): \(String(cString: strerror(errno)))")
        }
        do throws(SystemError) {
            try WholeFile.write(Array((json.text + "\n").utf8), to: file(name), mode: 0o600)
        } catch { throw NodeError(error.description) }
        refresh()
        return voice
    }

    private func free(_ voices: [KnownVoice]) -> Int {
        let taken = Set(voices.map(\.number))
        return (1...voices.count + 1).first { !taken.contains($0) } ?? 1
    }

    /// Forgets a voice. [any]
    func forget(_ name: String) throws(NodeError) {
        try Self.check(name)
        guard unlink(file(name)) == 0 else {
            if errno != ENOENT { throw NodeError("cannot remove \(file(name)): \(String(cString: strerror(errno)))") }
            let known = voices.map(\.name)
            throw NodeError(
                "no voice is called \(name)",
                hint: known.isEmpty ? "none is known" : "known are " + known.joined(separator: ", "), key: "name")
        }
        refresh()
    }

    /// Throws where a name cannot be one. [any]
    static func check(_ name: String) throws(NodeError) {
        let isFit =
            !name.isEmpty && name.utf8.count <= 120 && name.first != "." && name.first != " " && name.last != " "
            && !name.unicodeScalars.contains { $0 == "/" || $0.value < 32 || $0.value == 127 }
        if isFit { return }
        throw NodeError(
            "\"\(name.prefix(40))\" cannot be the name of a voice",
            hint: "1 to 120 bytes, without / and control characters, and no blank or dot at its beginning", key: "name")
    }

    private static let end = ".json"
    private func file(_ name: String) -> String { "\(path)/\(name)\(Self.end)" }
}
