// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Variables of the environment that hold keys: no child of this process gets them, except one that needs them itself.
///
/// Their names stand in a variable, too: plugins, which are linked with a copy of this of their own, and children see the same
/// names there.
public enum SecretVariables {
    /// What holds the names, with colons between them. Whoever starts the program may name more.
    public static let list = "VOICEGRAPH_SECRETS"

    private static let monitor = Monitor()

    /// The names. [any]
    public static var names: Set<String> {
        guard let text = getenv(list) else { return [] }
        return Set(String(cString: text).split(separator: ":").map(String.init))
    }

    /// From now on no child gets these. [control]
    public static func add(_ more: some Sequence<String>) {
        monitor.locked {
            let before = names
            let all = before.union(more.filter(isName))
            guard all != before else { return }
            setenv(list, all.sorted().joined(separator: ":"), 1)
        }
    }

    /// Whether a variable, "NAME=value", is one of some.
    static func contains(_ names: Set<String>, _ variable: String) -> Bool {
        !names.isEmpty && names.contains(String(variable.prefix { $0 != "=" }))
    }

    /// Whether a text can be the name of a variable that holds a key.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && !text.utf8.contains { $0 == 61 || $0 == 58 || $0 == 0 }
    }
}
