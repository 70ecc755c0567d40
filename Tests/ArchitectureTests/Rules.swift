// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder of sources: what it is, and what it may import of the project and of other packages.
struct Folder {
    var name: String
    var purpose: String
    var imports: Set<String> = []

    init(_ name: String, _ purpose: String, imports: Set<String> = []) {
        self.name = name
        self.purpose = purpose
        self.imports = imports
    }
}

/// Who may import whom. A folder in Swift that is not here may import nothing of the project. DESIGN.md has this as a table.
let folders: [Folder] = [
    Folder(
        "Realtime",
        "clock, rings, the queue back to the control side, level meters: what the audio thread shares with the rest",
        imports: ["CRealtime"]),
    Folder(
        "System",
        "locks, threads, child processes, signals, files and paths: what every part needs of Linux, written once",
        imports: ["CRealtime"]),
    Folder(
        "JSON", "JSON values, a strict reader with a limit of depth, a writer",
        imports: []),
    Folder(
        "ModelStore", "the catalogue of models, installing and removing them",
        imports: ["JSON", "System"]),
    Folder(
        "NodeKit", "everything that the author of a node in Swift imports; it re-exports what it is made of",
        imports: ["CNode", "Realtime", "System"]),
    Folder(
        "GraphFile", "what a graph file says: nodes, links, tables of keys, the types there are, diagnostics, hints",
        imports: ["JSON", "NodeKit", "System"]),
    Folder(
        "Graph", "from the description of a graph to a schedule, and the engine that runs it on the audio thread",
        imports: ["GraphFile", "NodeKit", "Realtime", "System", "CNode"]),
    Folder(
        "NodeTrials", "drives nodes without a graph, and looks whether they keep what they promise",
        imports: ["CRealtime", "Graph", "NodeKit", "Realtime", "System"]),
    Folder(
        "NodeTesting", "what tests of nodes expect: the product for authors of plugins",
        imports: ["NodeKit", "NodeTrials", "Testing"]),
    Folder(
        "Nodes",
        "built-in node types that link no library: generators, levels, filters, dynamics, modulation, time, analysis",
        imports: ["NodeKit", "Realtime", "System", "CNode", "CRealtime"]),
    Folder(
        "WebAudio", "the nodes `web-input` and `web-output`: sound of clients, with clocks of their own",
        imports: ["NodeKit", "Realtime", "System", "CNode", "CRealtime"]),
    Folder(
        "LV2", "the LV2 host, as the node type `lv2`",
        imports: ["CLilv", "NodeKit", "Realtime", "System", "CNode", "CRealtime"]),
    Folder(
        "Drivers", "what calls the audio: JACK, PipeWire, sound cards through a jackd of our own, a timer, offline",
        imports: ["CJack", "CNode", "Graph", "GraphFile", "Realtime", "System", "CRealtime"]),
    Folder(
        "Isolation", "nodes in processes of their own, and the supervisors of these processes",
        imports: ["Graph", "NodeKit", "Realtime", "System", "CNode", "CRealtime"]),
    Folder(
        "Config", "from the text of a graph file to its description and diagnostics, and back to text",
        imports: ["CToml", "GraphFile", "JSON", "NodeKit"]),
    Folder(
        "Host", "the running graph, its edits, the event bus, dropouts, renders, and the loader of plugins",
        imports: [
            "Config", "Drivers", "Graph", "GraphFile", "Isolation", "JSON", "LV2", "NodeKit", "Nodes", "Realtime",
            "System", "WebAudio", "DequeModule",
        ]),
    Folder(
        "VoiceGraph", "the library for Swift programs: graphs as values, renders in memory, sound of the program",
        imports: ["Config", "Drivers", "GraphFile", "Host", "NodeKit", "Observation", "System"]),
    Folder(
        "API", "the calls that other programs may ask of a host and what they are told, with rights and checks",
        imports: ["Config", "Graph", "GraphFile", "Host", "JSON", "NodeKit", "System", "DequeModule"]),
    Folder(
        "Control",
        "the socket by which other programs of the user call a host, its client, the tunnel through ssh, the watch on files",
        imports: ["API", "Graph", "Host", "JSON", "NodeKit", "Realtime", "System", "CRealtime"]),
    Folder("HTTP", "requests by libcurl, loaded at run time", imports: ["CHTTP", "System"]),
    Folder(
        "RemoteGraph", "the same for Swift programs of a host in another process or on another machine",
        imports: ["API", "Control", "HTTP", "Host", "JSON", "NodeKit", "System", "VoiceGraph"]),
    Folder(
        "Archive", "texts that were said and recordings that were made, kept in SQLite",
        imports: ["CSQLite", "Graph", "Host", "NodeKit", "System"]),
    Folder(
        "Server", "the page, the HTTP API and the WebSocket",
        imports: [
            "API", "Archive", "CZlib", "GraphFile", "Host", "JSON", "NodeKit", "Picture", "System",
            "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket",
        ]),
    Folder(
        "Picture",
        "what is drawn: visualizers, graphs, charts of sounds; PNG by Cairo, librsvg and libpng, loaded when needed",
        imports: ["Graph", "GraphFile", "NodeKit"]),
    Folder(
        "Terminal", "the screen of a run on a terminal",
        imports: ["Drivers", "Graph", "GraphFile", "Host", "NodeKit", "Picture", "System"]),
    Folder(
        "Doctor", "what is wrong with a machine, and what to do about it",
        imports: [
            "Archive", "Config", "Control", "Drivers", "Graph", "GraphFile", "Host", "JSON", "LV2", "ModelStore",
            "NodeKit", "System", "Terminal",
        ]),
    Folder(
        "Reference", "node types and graph files in texts: `describe`, `help config`, the manual page, the JSON schema",
        imports: ["API", "Config", "Graph", "GraphFile", "Host", "JSON", "NodeKit", "System"]),
    Folder(
        "Film", "pictures of sound as a film, by ffmpeg; captions",
        imports: ["Host", "Picture", "System", "Terminal"]),
    Folder(
        "SpeechDispatcher", "the protocol by which Speech Dispatcher speaks through a graph",
        imports: ["Host", "NodeKit", "System"]),
    Folder(
        "voicegraph", "the command",
        imports: [
            "API", "Archive", "Config", "Control", "Doctor", "Drivers", "Film", "Graph", "GraphFile", "Host",
            "Isolation", "JSON", "LV2", "ModelStore", "NodeKit", "NodeTrials", "Picture", "Reference", "Server",
            "SpeechDispatcher",
            "System", "Terminal",
            "ArgumentParser",
        ]),
    Folder(
        "Plugins",
        "node types with or without a library, what they share (`Frames`, `Models`, `Pronunciation`, `Resampling`, `SpokenText`), and examples",
        imports: ["Frames", "HTTP", "JSON", "Models", "NodeKit", "Pronunciation", "Resampling", "SpokenText"]),
    Folder("CEbur128", "libebur128 as a module: loudness and true peak"),
    Folder(
        "CEcho", "the echo canceller in C: its filters and the suppressor, with speexdsp and WebRTC loaded when needed"),
    Folder("CEspeak", "types and constants of espeak-ng; the library is loaded at run time"),
    Folder("CHTTP", "HTTP and TLS by libcurl, loaded at run time"),
    Folder("CJack", "libjack of jackd or PipeWire, loaded at run time and called through a table"),
    Folder("CKissfft", "KissFFT as a module: Fourier transforms"),
    Folder("CLilv", "lilv and LV2's headers as a module, with what is needed to keep lilv's messages"),
    Folder("CNode", "the contract of nodes: node.h, and the helpers for processors"),
    Folder(
        "CRealtime",
        "clock, denormals, sanitizer marks, locked memory, waiting, child processes: what the audio and its children need of Linux in C; sums, curves and filters in vectors"
    ),
    Folder("CRealtimeCheck", "a library to preload: sees what could block on audio threads"),
    Folder("CSQLite", "the system's SQLite as a module"),
    Folder("CSndfile", "libsndfile as a module: reading and writing sound files"),
    Folder("CSoxr", "libsoxr as a module: resampling"),
    Folder(
        "CSpeech",
        "PocketSphinx, ONNX Runtime, TensorFlow Lite and flite: their types and what Swift cannot call; loaded at run time"
    ),
    Folder("CToml", "toml++ behind an interface in C: TOML text as nodes with places"),
    Folder("CVorbis", "libvorbisenc as a module: encoding Ogg Vorbis"),
    Folder("CZlib", "zlib as a module: gzip for the page"),
]

/// What each folder may import.
let allowedImports = Dictionary(uniqueKeysWithValues: folders.map { ($0.name, $0.imports) })

/// The table of folders in DESIGN.md.
let folderTable =
    "| Folder | What it is | May import |\n|---|---|---|\n"
    + folders.map { folder in
        let path = folder.name == "Plugins" ? "Plugins" : "Sources/\(folder.name)"
        return "| `\(path)` | \(folder.purpose) | \(folder.imports.sorted().joined(separator: ", ")) |\n"
    }.joined()

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

/// What a folder may pass on to those who import it: a module of Swift its half in C, and NodeKit and VoiceGraph a whole kit.
let allowedExports: [String: Set<String>] = [
    "Realtime": ["CRealtime"],
    "NodeKit": ["CNode", "Realtime", "System"],
    "NodeTesting": ["NodeTrials"],
    "RemoteGraph": ["VoiceGraph"],
    "VoiceGraph": ["Drivers", "GraphFile", "Host", "NodeKit"],
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

/// Calls closures of a program, which the compiler cannot look into; `ClosureTests` reads what is made of it.
private let uncheckedAudio = "Sources/VoiceGraph/Closures/RealtimeBody.swift call"

/// Functions of the audio path, known by their names or by the block that they are given, that the compiler does not check.
func audioPathViolations(_ file: SourceFile) -> [String] {
    let lines = file.lines
    return lines.indices.compactMap { index in
        guard lines[index].contains("func ") else { return nil }
        // A requirement has no body.
        let signature = lines[index...].prefix(8).prefix { !$0.isEmpty && $0.firstMatch(of: /^\s*\}/) == nil }
        guard let end = signature.firstIndex(where: { $0.contains("{") }) else { return nil }
        let text = signature[...end].joined(separator: " ")
        guard let match = text.firstMatch(of: /\bfunc (\w+(?:Process|Absorb))\b|\bfunc (\w+).*borrowing Block\b/) else {
            return nil
        }
        // The attribute stands before the function, on its line or those just above.
        let above = lines[..<index].reversed().prefix { $0.wholeMatch(of: /\s*(@.*|\/\/.*)/) != nil }
        if lines[index].contains("@_noLocks") || above.contains(where: { $0.contains("@_noLocks") }) { return nil }
        let name = match.1 ?? match.2 ?? "it"
        if uncheckedAudio == "\(file.path) \(name)" { return nil }
        return "\(file.path):\(index + 1): \(name) runs on the audio thread and needs @_noLocks"
    }
}

/// Pointers in the audio half of a node: what it works on is a `Block`, an `AudioArray` or a `Shared`.
func pointerViolations(_ file: SourceFile) -> [String] {
    guard ["Nodes", "Plugins"].contains(file.layer), file.text.contains("@_noLocks"),
        file.text.contains("import NodeKit")
    else { return [] }
    return file.lines.enumerated().compactMap { index, line in
        guard
            let match = line.firstMatch(
                of: /\bUnsafe(?:Mutable)?Pointer<|assumingMemoryBound|\bvg_(?:io|cycle|ramp)\b/),
            // What a plugin exports is C.
            !line.contains("@c(vg_plugin_entry)")
        else { return nil }
        return
            "\(file.path):\(index + 1): \(match.0) in an audio half; a Block, an AudioArray or a Shared has no pointers"
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

/// The folders in which nodes stand: only there a type or an event of a node may be named.
let nodeFolders: Set<String> = ["Nodes", "LV2", "WebAudio", "Plugins"]

/// Names of types and of events, as nodes declare them.
struct NodeNames {
    var types: Set<String> = []
    var events: Set<String> = []

    init(_ sources: [SourceFile]) {
        for file in sources where nodeFolders.contains(file.layer) {
            types.formUnion(file.text.matches(of: /NodeDescriptor\(\s*"([a-z0-9-]+)"/).map { String($0.1) })
            guard file.text.contains("EventType(") else { continue }
            events.formUnion(file.text.matches(of: /"([a-z]+\.[a-z]+)"/).map { String($0.1) })
        }
    }

    /// Places outside of those folders that ask for a type or an event by its name, or by a part of it. `StandardType` has the
    /// types of which commands make graphs; the Swift types of `VoiceGraph/Types` are made from declarations.
    func violations(_ file: SourceFile) -> [String] {
        if nodeFolders.contains(file.layer) || file.path.hasSuffix("/StandardType.swift")
            || file.path.hasPrefix("Sources/VoiceGraph/Types/")
        {
            return []
        }
        let parts = Set(
            events.flatMap { name in
                let dot = name.firstIndex(of: ".")!
                return [name, String(name[...dot]), String(name[dot...])]
            })
        return file.lines.enumerated().flatMap { index, line in
            guard line.contains("\"") || line.contains("'") else { return [String]() }
            let code = line.prefix { $0 != "/" } + (line.contains("//") ? "" : line.drop { $0 != "/" })
            let named = code.matches(of: /["']([a-z]*\.[a-z]*)["']/).map { String($0.1) }.filter(parts.contains)
            let asked = code.matches(
                of: /(?:\.type|[tT]ypeName|\btype:|\["type"\]\S*)(?: *[=!]=+| *=|) *"([a-z0-9-]+)"/
            )
            .map { String($0.1) }.filter(types.contains)
            return (named + asked).map {
                "\(file.path):\(index + 1): \"\($0)\" is a name of a node's own: ask for what it declares"
            }
        }
    }
}

/// The package this test was built from.
let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Source files below `folders` with one of the suffixes; programs that a tutorial shows are none.
func sourceFiles(_ folders: [String], suffixes: [String] = [".swift", ".c", ".h", ".cpp", ".cc"]) -> [SourceFile] {
    var files: [SourceFile] = []
    for folder in folders {
        let base = packageRoot.appending(path: folder)
        guard let paths = try? FileManager.default.subpathsOfDirectory(atPath: base.path) else { continue }
        for path in paths.sorted()
        where suffixes.contains(where: path.hasSuffix) && !path.contains(".build") && !path.contains(".docc/") {
            guard let text = try? String(contentsOf: base.appending(path: path), encoding: .utf8) else { continue }
            files.append(SourceFile(path: "\(folder)/\(path)", text: text))
        }
    }
    return files
}
