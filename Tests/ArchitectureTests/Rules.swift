// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Who may import whom. A folder that is not here may import nothing of the project.
let allowedImports: [String: Set<String>] = [
    "Realtime": ["CRealtime"],
    "System": ["CRealtime"],
    "JSON": [],
    "ModelStore": ["JSON", "System"],
    "NodeKit": ["CNode", "Realtime", "System"],
    "Graph": ["JSON", "NodeKit", "Realtime", "System", "CNode", "CRealtime"],
    "Nodes": ["NodeKit", "Realtime", "System", "CNode", "CRealtime"],
    "WebAudio": ["NodeKit", "Realtime", "System", "CNode", "CRealtime"],
    "LV2": ["CLilv", "NodeKit", "Realtime", "System", "CNode", "CRealtime"],
    "Drivers": ["CJack", "CNode", "Graph", "Realtime", "System", "CRealtime"],
    "Isolation": ["Graph", "NodeKit", "Realtime", "System", "CNode", "CRealtime"],
    "Config": ["CToml", "Graph", "JSON", "NodeKit", "CNode"],
    "Host": [
        "Config", "Drivers", "Graph", "Isolation", "JSON", "LV2", "NodeKit", "Nodes", "Realtime", "System",
        "WebAudio", "CNode", "CRealtime", "DequeModule",
    ],
    "API": ["Config", "Graph", "Host", "JSON", "NodeKit"],
    "Control": ["API", "Drivers", "Graph", "Host", "JSON", "NodeKit", "Realtime", "System", "CRealtime"],
    "Archive": ["CSQLite", "Graph", "Host", "NodeKit", "System"],
    "Server": [
        "API", "Archive", "CZlib", "Config", "Graph", "Host", "JSON", "NodeKit", "Picture", "System", "WebAudio",
        "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket",
    ],
    "Picture": ["Graph", "NodeKit"],
    "Terminal": ["Drivers", "Graph", "Host", "NodeKit", "Picture", "System"],
    "voicegraph": [
        "API", "Archive", "Config", "Control", "Drivers", "Graph", "Host", "Isolation", "JSON", "LV2", "ModelStore",
        "NodeKit", "Picture", "Server", "System", "Terminal", "ArgumentParser",
    ],
    "Plugins": ["JSON", "Models", "NodeKit", "Resampling", "SpokenText"],
]

/// What every folder may import of the system.
let systemImports: Set<String> = ["Glibc", "Synchronization", "Dispatch"]

/// A source file, by its path from the package's root.
struct SourceFile {
    var path: String
    var text: String

    /// "Graph" of Sources/Graph/..., "Plugins" of Plugins/...
    var layer: String {
        let parts = path.split(separator: "/").map(String.init)
        return parts.first == "Sources" && parts.count > 1 ? parts[1] : parts.first ?? ""
    }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    var isSwift: Bool { path.hasSuffix(".swift") }
}

/// What a folder may pass on to those who import it: a module of Swift its half in C, and NodeKit the whole kit.
let allowedExports: [String: Set<String>] = [
    "Realtime": ["CRealtime"],
    "NodeKit": ["CNode", "Realtime", "System"],
]

/// Lines of imports that the table does not allow, as `path:line: message`.
func importViolations(_ file: SourceFile) -> [String] {
    file.lines.enumerated().compactMap { index, line in
        // Most lines need no second look, and one with a pattern is slow.
        guard line.contains("import") else { return nil }
        let pattern = /^\s*(?:@\w+(?:\([^)]*\))?\s+|(?:public|package|internal|fileprivate|private)\s+)*import\s+(.+)$/
        guard let match = line.prefixMatch(of: pattern) else { return nil }
        let words = match.1.split(whereSeparator: { " .;/".contains($0) })
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
        guard let module = words.first(where: { !kinds.contains($0) }).map(String.init) else { return nil }
        let place = "\(file.path):\(index + 1): "
        // It takes time and memory from every run; in a plugin it takes the main queue for itself, and what waits there waits
        // for ever.
        if module.hasPrefix("Foundation") { return place + "\(file.layer) must not import Foundation" }
        if line.contains("@_exported"), !allowedExports[file.layer, default: []].contains(module) {
            return place + "\(file.layer) must not re-export \(module)"
        }
        if systemImports.contains(module) || allowedImports[file.layer, default: []].contains(module) { return nil }
        // A plugin brings its own library, as a module of C.
        let hosts = ["CJack", "CLilv", "CSQLite", "CToml"]
        let isLibrary = module.wholeMatch(of: /C[A-Z]\w*/) != nil && !hosts.contains(module)
        if file.layer == "Plugins", isLibrary { return nil }
        return place + "\(file.layer) must not import \(module)"
    }
}

/// What is wrong with the licence line.
func licenceViolations(_ file: SourceFile) -> [String] {
    let licence = file.path.hasPrefix("Plugins/TTS/") ? "GPL-3.0-or-later" : "Apache-2.0"
    // The second line, where the first has to be a tools version or an interpreter.
    let found = file.lines.prefix(2).contains { line in
        line.firstMatch(of: /SPDX-License-Identifier: ([\w.-]+)/)?.1 == licence[...]
    }
    return found ? [] : ["\(file.path):1: the first line must be SPDX-License-Identifier: \(licence)"]
}

/// Functions of the audio path, known by their names, that the compiler does not check.
func audioPathViolations(_ file: SourceFile) -> [String] {
    let lines = file.lines
    return lines.indices.compactMap { index in
        guard lines[index].contains("func "),
            let match = lines[index].firstMatch(of: /\bfunc (\w+(?:Process|Absorb))\b/)
        else { return nil }
        // The attribute stands before the function, on its line or those just above.
        let above = lines[..<index].reversed().prefix { $0.wholeMatch(of: /\s*(@.*|\/\/.*)/) != nil }
        if lines[index].contains("@_noLocks") || above.contains(where: { $0.contains("@_noLocks") }) { return nil }
        return "\(file.path):\(index + 1): \(match.1) runs on the audio thread and needs @_noLocks"
    }
}

/// Tests without a name that is a sentence: it starts with a capital, a digit or a name in code, and has several words.
func testNameViolations(_ file: SourceFile) -> [String] {
    // At the start of a line: elsewhere it is a text.
    let pattern = /^[ \t]*@Test\b(?:\(\s*"((?:[^"\\]|\\.)*)")?/.anchorsMatchLineEndings()
    return file.text.matches(of: pattern).compactMap { match in
        let name = match.1 ?? ""
        if name.prefixMatch(of: /[A-Z0-9`].* ./) != nil, name.last != "." { return nil }
        let line = 1 + file.text[..<match.range.lowerBound].count { $0.isNewline }
        return "\(file.path):\(line): a test's name is a sentence: @Test(\"The file is read\") func reading()"
    }
}

/// The package this test was built from.
let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Source files below `folders` with one of the suffixes.
func sourceFiles(_ folders: [String], suffixes: [String] = [".swift", ".c", ".h", ".cpp", ".cc"]) -> [SourceFile] {
    var files: [SourceFile] = []
    for folder in folders {
        let base = packageRoot.appending(path: folder)
        guard let paths = try? FileManager.default.subpathsOfDirectory(atPath: base.path) else { continue }
        for path in paths.sorted() where suffixes.contains(where: path.hasSuffix) && !path.contains(".build") {
            guard let text = try? String(contentsOf: base.appending(path: path), encoding: .utf8) else { continue }
            files.append(SourceFile(path: "\(folder)/\(path)", text: text))
        }
    }
    return files
}
