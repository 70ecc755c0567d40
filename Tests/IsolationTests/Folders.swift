// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files in the folders of `base` whose names begin with `stem`.
func filesBelow(_ base: String, _ stem: String) throws -> [String] {
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: base).filter { $0.hasPrefix(stem) }.flatMap { folder in
        (try? manager.subpathsOfDirectory(atPath: "\(base)/\(folder)"))?.map { "\(base)/\(folder)/\($0)" } ?? []
    }
}
