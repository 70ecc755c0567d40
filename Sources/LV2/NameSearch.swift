// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc

/// Finds out which plugins can bear a name without reading their data as data, which takes seconds for all of them:
/// their files are searched as text. Valid inside `World.locked` only.
struct NameSearch {
    private let lilv: Lilv
    private let wanted: [UInt8]
    private var known: [String: Bool] = [:]

    init(_ lilv: Lilv, _ name: String) {
        self.lilv = lilv
        wanted = Array(name.utf8).map(lowered)
    }

    /// Whether one of the plugin's files has the name in it, in any capitals.
    mutating func mayBear(_ plugin: OpaquePointer) -> Bool {
        for uri in lilv.texts(lilv_plugin_get_data_uris(plugin)) {
            guard let path = lilv_file_uri_parse(uri, nil) else { continue }
            defer { lilv_free(path) }
            let file = String(cString: path)
            let found = known[file] ?? contains(file)
            known[file] = found
            if found { return true }
        }
        return false
    }

    private func contains(_ path: String) -> Bool {
        guard let first = wanted.first, let file = fopen(path, "r") else { return false }
        defer { fclose(file) }
        var status = stat()
        guard fstat(fileno(file), &status) == 0, status.st_size >= wanted.count else { return false }
        let text = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(status.st_size), alignment: 1)
        defer { text.deallocate() }
        let size = fread(text.baseAddress, 1, text.count, file)
        guard size >= wanted.count else { return false }
        return wanted.withUnsafeBufferPointer { wanted in
            for start in 0...(size - wanted.count) where lowered(text[start]) == first {
                var length = 1
                while length < wanted.count, lowered(text[start + length]) == wanted[length] { length += 1 }
                if length == wanted.count { return true }
            }
            return false
        }
    }
}

/// A capital ASCII letter as a small one; other bytes as they are.
private func lowered(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
