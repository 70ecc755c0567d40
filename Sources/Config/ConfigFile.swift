// SPDX-License-Identifier: Apache-2.0
import Glibc
import GraphFile
import NodeKit

/// Reads graph files. Everything wrong with a file is reported at once.
public enum ConfigFile {
    /// Reads the graph file at `path` and what it includes.
    ///
    /// `overrides` are texts "node.NAME.key=value" or "TABLE.key=value" whose value is read as TOML, or else as a string.
    /// `environment` is what `${NAME}` in strings refers to; nil: that of this process. With `onlyFiles` no pipe or device
    /// is read, which may be waited on for ever: for a host that plays. `tables` are those that the file may have.
    ///
    /// The description is nil when a file could not be read or has a syntax error. Otherwise it is given even if there
    /// are errors, so that a caller can have `GraphBuilder` find more; what was wrong is left out of it. [any]
    public static func load(
        path: String, overrides: [String] = [], environment: [String: String]? = nil, onlyFiles: Bool = false,
        tables: FileTables = FileTables()
    ) -> (GraphDescription?, [Diagnostic]) {
        switch readFile(path, onlyFiles: onlyFiles) {
        case .success(let bytes):
            var reader = GraphReader(environment ?? processEnvironment(), overrides: overrides, tables)
            reader.readMain(SourceText(file: path, bytes: bytes), canonical: canonical(path))
            return reader.finish(path, overrides)
        case .failure(let fault):
            let text = "cannot read '\(shortened(path))': \(fault.message)"
            return (nil, [Diagnostic(.error, text, at: SourceLocation(file: path), hint: fault.hint)])
        }
    }

    /// The graph file at `path` and all that it includes, as far as that can be found out: also files that are not there
    /// or faulty. [any]
    public static func files(of path: String, environment: [String: String]? = nil) -> [String] {
        guard case .success(let bytes) = readFile(path, onlyFiles: true) else { return [path] }
        var reader = GraphReader(environment ?? processEnvironment())
        reader.readMain(SourceText(file: path, bytes: bytes), canonical: canonical(path))
        return reader.files
    }

    /// Reads a graph from text in memory; `file` is what diagnostics call it, and includes start at its folder. Any
    /// bytes will do. [any]
    public static func load(
        text: some Sequence<UInt8>, file: String = "graph.conf", overrides: [String] = [],
        environment: [String: String]? = nil, tables: FileTables = FileTables()
    ) -> (GraphDescription?, [Diagnostic]) {
        var reader = GraphReader(environment ?? processEnvironment(), overrides: overrides, tables)
        reader.readMain(SourceText(file: file, bytes: Array(text)), canonical: file)
        return reader.finish(file, overrides)
    }

    /// Reads a graph from a string in memory. [any]
    public static func load(
        text: String, file: String = "graph.conf", overrides: [String] = [], environment: [String: String]? = nil,
        tables: FileTables = FileTables()
    ) -> (GraphDescription?, [Diagnostic]) {
        load(text: text.utf8, file: file, overrides: overrides, environment: environment, tables: tables)
    }
}

/// The variables of this process. [any]
package func processEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let text = next.pointee {
        let pair = String(cString: text)
        if let equals = pair.firstIndex(of: "=") {
            result[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        next += 1
    }
    return result
}
