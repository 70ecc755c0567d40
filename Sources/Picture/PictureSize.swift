// SPDX-License-Identifier: Apache-2.0

/// A size in pixels, as "1200x480".
package struct PictureSize: Sendable, CustomStringConvertible {
    package var width, height: Int

    package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    /// Reads one; nil: it is none, or too large to be drawn. [any]
    package init?(_ text: String) {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else { return nil }
        guard (1...20_000).contains(width), (1...20_000).contains(height), width * height <= 100_000_000 else {
            return nil
        }
        self.init(width: width, height: height)
    }

    package var description: String { "\(width)x\(height)" }
}
