// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The names in a folder but those of itself and its parent, in the order in which they lie there; none where it cannot be
/// read. [any]
public func names(in folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var result: [String] = []
    while let entry = readdir(listing) {
        // The name starts at its field's offset and ends with a zero, whatever the field's declared length.
        let offset = MemoryLayout<dirent>.offset(of: \.d_name)!
        let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
        if name != ".", name != ".." { result.append(name) }
    }
    return result
}

/// Removes a folder and what is in it; links are removed, not followed. [any]
public func removeFolder(_ path: String) {
    for name in names(in: path) {
        var facts = stat()
        let inner = "\(path)/\(name)"
        if lstat(inner, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR {
            removeFolder(inner)
        } else {
            unlink(inner)
        }
    }
    rmdir(path)
}
