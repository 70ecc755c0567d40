// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The folder that relative paths start from: that in which this program was started, unless somebody changed it. [any]
public func currentFolder() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}

/// A path that means the same from any folder; a relative one starts at `folder`. Links and dots in it stay. [any]
public func absolute(_ path: String, from folder: String = currentFolder()) -> String {
    path.hasPrefix("/") ? path : (folder == "/" ? "" : folder) + "/" + path
}
