// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The files in the folders of `base` whose names begin with `stem`.
func filesBelow(_ base: String, _ stem: String) throws -> [String] {
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: base).filter { $0.hasPrefix(stem) }.flatMap { folder in
        (try? manager.subpathsOfDirectory(atPath: "\(base)/\(folder)"))?.map { "\(base)/\(folder)/\($0)" } ?? []
    }
}

/// What a text file holds; empty when there is none. Also of files in /proc, which have no size.
func contents(_ path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&piece, 1, piece.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += piece[..<count]
    }
}
