// SPDX-License-Identifier: Apache-2.0
import System

/// Keeps data away from this process that harms whoever reads it: lilv and serd crash over lists that are nested a hundred
/// thousand times, and data may be made to keep them for ever. A host that plays reads a bundle only when a process made
/// for that has read it. Without somebody to ask, every bundle is read. [control]
enum BundleGuard {
    /// Finds out about bundles: why some are not to be read, by their folders.
    typealias Ask = @Sendable (_ bundles: [String]) -> [String: String]

    private static let ask = Lock<Ask?>(nil)

    /// From now on bundles are asked about.
    static func use(_ ask: @escaping Ask) { Self.ask.withLock { $0 = ask } }

    /// Why bundles are not to be read, by their folders.
    static func faults(of bundles: [String]) -> [String: String] {
        bundles.isEmpty ? [:] : ask.withLock { $0 }?(bundles) ?? [:]
    }
}
