// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A model that `voicegraph models install` has put into a folder of its own.
public struct ModelFolder: Sendable {
    /// What it is called.
    public let name: String
    /// The folder.
    public let path: String

    /// Finds a model among those of this user. The error tells how to get it. [control]
    public init(_ name: String, in models: String) throws(NodeError) {
        self.name = name
        path = models + "/" + name
        if !Self.isInstalled(name, in: models) {
            throw NodeError(
                "the model \(name) is not installed in \(models)", hint: "voicegraph models install \(name)")
        }
    }

    /// Whether a model is there; half an installation never is. [any]
    public static func isInstalled(_ name: String, in models: String) -> Bool {
        access(models + "/" + name, R_OK | X_OK) == 0
    }

    /// One of its files. [any]
    public func file(_ name: String) -> String { path + "/" + name }
}
