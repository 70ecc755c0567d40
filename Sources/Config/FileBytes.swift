// SPDX-License-Identifier: Apache-2.0
import CToml
import Glibc
import GraphFile
import NodeKit

/// What the files of a graph may have in all: ten times what ten thousand nodes need. More is no graph, and would take
/// minutes and a gigabyte to be found wrong.
enum FileLimits {
    /// Bytes, of all files together.
    static let bytes = 4 << 20
    /// Tables, lists and values in them.
    static let values = 250_000
}

/// Reads a whole file up to the size that is accepted and one byte more. With `onlyFiles` nothing else is read:
/// a pipe or a device may be waited on for ever.
func readFile(_ path: String, onlyFiles: Bool = false) -> Result<[UInt8], Fault> {
    guard !path.isEmpty else { return .failure(Fault("the name is empty")) }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (onlyFiles ? O_NONBLOCK : 0))
    guard descriptor >= 0 else { return .failure(Fault(words(of: errno))) }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        return .failure(Fault("it is a folder", hint: "name a graph file in it"))
    }
    if onlyFiles, status.st_mode & S_IFMT != S_IFREG {
        return .failure(Fault("it is not an ordinary file"))
    }
    var bytes: [UInt8] = []
    let limit = FileLimits.bytes + 1
    while bytes.count < limit {
        let chunk = min(1 << 16, limit - bytes.count)
        var failed: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
            let got = read(descriptor, buffer.baseAddress, chunk)
            failed = got < 0 ? errno : 0
            count = max(0, got)
        }
        if failed == EINTR { continue }
        guard failed == 0 else { return .failure(Fault(words(of: failed))) }
        if piece.isEmpty { break }
        bytes += piece
    }
    return .success(bytes)
}

/// An error number in words, without the capital letter of the C library.
private func words(of number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
    let words = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return words.prefix(1).lowercased() + words.dropFirst()
}

/// Says what a file is that cannot be a graph; nil for text.
func binaryFault(_ source: SourceText) -> Diagnostic? {
    guard let nul = source.bytes.prefix(1 << 16).firstIndex(of: 0) else { return nil }
    let kinds: [(magic: String, name: String)] = [
        ("RIFF", "a WAV file"), ("fLaC", "a FLAC file"), ("OggS", "an Ogg file"), ("\u{7F}ELF", "a program"),
        ("FORM", "an AIFF file"), ("ID3", "an MP3 file"),
    ]
    let found = kinds.first { source.bytes.starts(with: $0.magic.utf8) }
    return Diagnostic(
        .error, "not a text file: it holds a NUL byte", at: source.location(nul..<nul + 1),
        hint: found.map { "it looks like \($0.name); a graph file is TOML text" } ?? "a graph file is TOML text")
}

/// The folder part of a path; empty for a file in the current folder.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// A path without links and dots, to tell whether two names mean one file.
func canonical(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
}
