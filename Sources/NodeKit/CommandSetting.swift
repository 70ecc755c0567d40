// SPDX-License-Identifier: Apache-2.0
import Glibc

extension Settings {
    /// The program that a setting names, and its arguments: a text is a line for the shell, a list a program, by its path
    /// from the graph's folder or where $PATH has it. `user` needs it, as in "the engine \"command\"". [control]
    public func command(
        _ key: Key<[String]>, for user: String, hint: String, host: NodeHost
    ) throws(NodeError) -> [String] {
        let words = try self[key]
        guard let first = words.first, !trimmed(first).isEmpty else {
            throw NodeError("\(user) needs the command", hint: hint, key: key.name)
        }
        if case .string(let line)? = values[key.name] { return ["/bin/sh", "-c", line] }
        guard let path = programPath(first, host) else {
            throw NodeError("there is no program \(first)", hint: hint, key: key.name)
        }
        return [path] + words.dropFirst()
    }
}

private func programPath(_ name: String, _ host: NodeHost) -> String? {
    guard name.contains("/") else { return System.programPath(name) }
    let path = host.resolve(name)
    return isProgram(path) ? path : nil
}
