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

/// What a text file holds; empty when there is none.
func contents(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

/// The sanitizers that may be loaded into the tests.
enum Sanitizers {
    /// Whether one is that takes terabytes of addresses.
    static let areLoaded = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
