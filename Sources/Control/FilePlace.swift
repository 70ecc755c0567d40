// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// A name in a folder on which it depends what file a path leads to.
struct FilePlace: Hashable {
    /// Without links.
    var folder: String
    var name: String

    /// Its path.
    var path: String { folder == "/" ? "/" + name : folder + "/" + name }

    /// As many links one after the other as the kernel follows.
    private static let mostLinks = 40

    /// Every link that leads to a file, those in the place of folders too, and the file itself, or the first name on the
    /// way that is not there. [any]
    static func all(of file: String) -> [FilePlace] {
        var found: [FilePlace] = []
        var folder = "/"
        var rest = names(absolute(file))
        var links = 0
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name == ".." {
                folder = folder.lastIndex(of: "/").map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "/"
                continue
            }
            let place = FilePlace(folder: folder, name: name)
            if let target = place.target, links < mostLinks {
                links += 1
                found.append(place)
                if target.hasPrefix("/") { folder = "/" }
                rest = names(target) + rest
            } else if rest.isEmpty || access(place.path, F_OK) != 0 {
                return found + [place]
            } else {
                folder = place.path
            }
        }
        return found
    }

    /// What a link leads to; nil: it is none.
    private var target: String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }
}
