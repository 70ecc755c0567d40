// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6)]
/// In debug builds too: for what works on every sample, pixel or byte of the tests.
let optimized: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// The same with assertions: what works on blocks of audio looks at every index in debug builds.
let asserted: [SwiftSetting] = optimized + [.unsafeFlags(["-assert-config", "Debug"], .when(configuration: .debug))]

/// Also for values that cannot outlive a block.
let lifetimes: [SwiftSetting] = asserted + [.enableExperimentalFeature("Lifetimes")]

/// What a folder says of itself; it is no source.
let design = ["DESIGN.md"]

func code(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func plugin(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude extra: [String] = [],
    settings: [SwiftSetting] = strict
) -> Target {
    .target(
        name: "\(name)Plugin", dependencies: ["NodeKit"] + dependencies, path: "Plugins/\(name)",
        exclude: ["README.md"] + extra, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)Tests",
        swiftSettings: settings)
}

/// What only the command needs of another package: programs that take this one with `traits: []` fetch none of those.
func command(_ name: String, of package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Command"]))
}

func library(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// A plugin as the host finds it: libvg-NAME.so, next to the executable.
func plugin(product name: String, _ target: String) -> Product {
    .library(name: "vg-\(name)", type: .dynamic, targets: ["\(target)Plugin"])
}

let package = Package(
    name: "voicegraph",
    products: [
        .executable(name: "voicegraph", targets: ["voicegraph"]),
        .library(name: "NodeKit", targets: ["NodeKit"]),
        .library(name: "NodeTesting", targets: ["NodeTesting"]),
        .library(name: "VoiceGraph", targets: ["VoiceGraph", "Host"]),
        .library(name: "RemoteGraph", targets: ["RemoteGraph"]),
        .library(name: "VoiceGraphArchive", targets: ["Archive"]),
        // Loaded before everything else, to see what must not be on the audio thread.
        .library(name: "voicegraph-realtime", type: .dynamic, targets: ["CRealtimeCheck"]),
        plugin(product: "tts", "TTS"),
        plugin(product: "listen", "Listen"),
        plugin(product: "agent", "Agent"),
        plugin(product: "echo", "Echo"),
        plugin(product: "denoise", "Denoise"),
        plugin(product: "file", "File"),
        plugin(product: "record", "Record"),
        plugin(product: "tremolo", "Tremolo"),
        plugin(product: "bitcrush", "Bitcrush"),
    ],
    traits: [
        .default(enabledTraits: ["Command"]),
        .trait(name: "Command", description: "The command, with the server that it has in it."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        library("CLilv", "lilv-0", "liblilv-dev"),
        // Loaded at run time, so that there is nothing to link.
        .systemLibrary(name: "CEspeak", path: "Sources/CEspeak", providers: [.apt(["libespeak-ng-dev"])]),
        library("CSndfile", "sndfile", "libsndfile1-dev"),
        // libsndfile has it with it.
        library("CVorbis", "vorbisenc", "libvorbis-dev"),
        library("CEbur128", "libebur128", "libebur128-dev"),
        library("CSQLite", "sqlite3", "libsqlite3-dev"),
        library("CZlib", "zlib", "zlib1g-dev"),
        library("CSoxr", "soxr", "libsoxr-dev"),
        // What its pkg-config file defines are flags that are not allowed, and the defaults.
        .systemLibrary(name: "CKissfft", path: "Sources/CKissfft", providers: [.apt(["libkissfft-dev"])]),
        // Functions of a dozen instructions, called for every plugin in every block.
        .target(name: "CNode", cSettings: [.unsafeFlags(["-Xclang", "-mframe-pointer=none"])]),
        // Optimized in debug builds too: it measures every block of every test.
        .target(name: "CRealtime", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
        // Loaded into programs in C, too, which have no runtime of Swift: without what begins one.
        .target(name: "CRealtimeCheck", linkerSettings: [.unsafeFlags(["-nostartfiles"])]),
        // Loads libjack itself, from the one package or the other.
        .target(name: "CJack"),
        // Swift loads the libraries of these, so that there is nothing to link.
        .target(name: "CSpeech"),
        .target(name: "CHTTP"),
        // Optimized in debug builds too: it works in every block of every test.
        .target(
            name: "CEcho", cSettings: [.unsafeFlags(["-O2"])],
            // Where the package of Debian puts the headers.
            cxxSettings: [.unsafeFlags(["-O2", "-I/usr/include/webrtc_audio_processing"])]),
        .target(name: "CToml", cxxSettings: [.unsafeFlags(["-std=c++17"])]),
        .target(name: "Realtime", dependencies: ["CRealtime"], swiftSettings: optimized),
        code("JSON", []),
        code("System", ["CRealtime"]),
        .target(name: "ModelStore", dependencies: ["JSON", "System"], exclude: design, swiftSettings: optimized),
        .target(
            name: "NodeKit", dependencies: ["CNode", "Realtime", "System"], exclude: design, swiftSettings: lifetimes),
        code("GraphFile", ["JSON", "NodeKit", "System"], exclude: design),
        code("Graph", ["GraphFile", "NodeKit", "Realtime", "System"], exclude: design),
        // What node authors test with: the first without, the second with the toolchain's Testing.
        .target(
            name: "NodeTrials", dependencies: ["Graph", "NodeKit", "Realtime", "System"], exclude: design,
            swiftSettings: optimized),
        code("NodeTesting", ["NodeKit", "NodeTrials"]),
        .target(
            name: "Nodes", dependencies: ["NodeKit", "Realtime", "System"], exclude: design, swiftSettings: asserted),
        // Loads libsoxr.
        .target(
            name: "WebAudio", dependencies: ["NodeKit", "Realtime", "System"], exclude: design, swiftSettings: asserted
        ),
        code("LV2", ["CLilv", "NodeKit", "Realtime", "System"], exclude: design),
        code("Drivers", ["CJack", "CNode", "Graph", "GraphFile", "Realtime", "System"], exclude: design),
        code("Isolation", ["CNode", "Graph", "NodeKit", "Realtime", "System"], exclude: design),
        code("Config", ["CToml", "GraphFile", "JSON", "NodeKit"]),
        code(
            "Host",
            [
                "Config", "Drivers", "Graph", "GraphFile", "Isolation", "JSON", "LV2", "NodeKit", "Nodes", "Realtime",
                "System", "WebAudio", .product(name: "DequeModule", package: "swift-collections"),
            ], exclude: design),
        code("VoiceGraph", ["Config", "Drivers", "GraphFile", "Host", "NodeKit", "System"], exclude: design),
        code(
            "API",
            [
                "Config", "Graph", "GraphFile", "Host", "JSON", "NodeKit", "System",
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        code("Control", ["API", "Graph", "Host", "JSON", "NodeKit", "Realtime", "System"], exclude: design),
        // Loads libcurl.
        code("HTTP", ["CHTTP", "System"]),
        code("RemoteGraph", ["API", "Control", "HTTP", "Host", "JSON", "NodeKit", "System", "VoiceGraph"]),
        code("Archive", ["CSQLite", "Graph", "Host", "NodeKit", "System"], exclude: design),
        .target(
            name: "Server",
            dependencies: [
                "API", "Archive", "CZlib", "GraphFile", "Host", "JSON", "NodeKit", "Picture", "System",
                command("NIOCore", of: "swift-nio"), command("NIOPosix", of: "swift-nio"),
                command("NIOHTTP1", of: "swift-nio"),
                command("NIOWebSocket", of: "swift-nio"),
            ],
            exclude: design,
            // In the executable itself, so that nothing has to lie beside it.
            resources: [.embedInCode("Page")], swiftSettings: strict),
        .target(
            name: "Picture", dependencies: ["Graph", "GraphFile", "NodeKit"], exclude: design, swiftSettings: optimized),
        code("Terminal", ["Drivers", "Graph", "GraphFile", "Host", "NodeKit", "Picture", "System"], exclude: design),
        code(
            "Doctor",
            [
                "Archive", "Config", "Control", "Drivers", "Graph", "GraphFile", "Host", "JSON", "LV2", "ModelStore",
                "NodeKit", "System", "Terminal",
            ], exclude: design),
        code("Reference", ["API", "Config", "Graph", "GraphFile", "Host", "JSON", "NodeKit", "System"]),
        code("Film", ["Host", "Picture", "System", "Terminal"]),
        code("SpeechDispatcher", ["Host", "NodeKit", "System"]),
        .executableTarget(
            name: "voicegraph",
            dependencies: [
                "API", "Archive", "Config", "Control", "Doctor", "Drivers", "Film", "Graph", "GraphFile", "Host",
                "Isolation", "JSON", "LV2", "ModelStore", "NodeKit", "NodeTrials", "Picture", "Reference", "Server",
                "SpeechDispatcher", "System", "Terminal",
                command("ArgumentParser", of: "swift-argument-parser"),
            ],
            exclude: design, resources: [.embedInCode("Plugin/Scaffold")], swiftSettings: strict),
        .target(
            name: "Resampling", dependencies: ["CSoxr", "NodeKit"], path: "Plugins/Resampling",
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "Models", dependencies: ["CSpeech", "CZlib", "NodeKit"], path: "Plugins/Models",
            exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "Pronunciation", dependencies: ["JSON", "Models", "NodeKit"], path: "Plugins/Pronunciation",
            exclude: ["README.md"], swiftSettings: optimized),
        .target(
            name: "SpokenText", path: "Plugins/SpokenText", exclude: ["README.md"], swiftSettings: strict),
        plugin("Listen", ["CKissfft", "CSndfile", "CSpeech", "JSON", "Models", "Resampling"]),
        .target(
            name: "Frames", dependencies: ["NodeKit"], path: "Plugins/Frames", exclude: ["README.md"],
            swiftSettings: asserted),
        plugin("Echo", ["CEcho", "Frames"]),
        plugin("Denoise", ["CKissfft", "Frames", "Models"], settings: asserted),
        plugin(
            "TTS", ["CEspeak", "CKissfft", "CSpeech", "JSON", "Models", "Pronunciation", "Resampling", "SpokenText"],
            exclude: ["LICENSE"], settings: asserted),
        plugin("Agent", ["HTTP", "JSON", "SpokenText"]),
        plugin("File", ["CSndfile", "Resampling"]),
        plugin("Record", ["CEbur128", "CSndfile", "CVorbis", "Resampling"]),
        plugin("Tremolo"),
        .target(
            name: "BitcrushPlugin", dependencies: ["CNode"], path: "Plugins/Bitcrush", exclude: ["README.md"],
            publicHeadersPath: "."),
        // What the tests begin in.
        .target(name: "CTestEnvironment", path: "Tests/Support/Environment"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CJack", "CSndfile", "CTestEnvironment", "Drivers", "Graph", "GraphFile", "NodeKit", "NodeTesting",
                "Realtime", "System",
            ],
            path: "Tests/Support", exclude: ["Environment"], swiftSettings: optimized),
        tests("Realtime", ["Realtime"]),
        tests("System", ["Realtime", "System"]),
        tests("JSON", ["JSON"]),
        tests("ModelStore", ["JSON", "ModelStore", "System"]),
        tests("NodeKit", ["NodeKit"]),
        tests("NodeTrials", ["Nodes"]),
        tests("Graph", ["Drivers", "Graph", "GraphFile", "NodeTrials", "System"]),
        tests("Nodes", ["Nodes"]),
        tests("WebAudio", ["WebAudio"], settings: optimized),
        tests("LV2", ["Graph", "GraphFile", "LV2", "Nodes", "System"]),
        tests("Drivers", ["Nodes", "Drivers", "System"]),
        tests(
            "Isolation",
            ["Config", "Drivers", "Graph", "GraphFile", "Host", "Isolation", "LV2", "NodeKit", "Realtime", "System"]),
        tests("Config", ["Config", "Graph", "GraphFile", "Host", "NodeKit"]),
        tests(
            "Host",
            ["Config", "Drivers", "Graph", "GraphFile", "Host", "Isolation", "JSON", "LV2", "NodeKit", "Realtime"]),
        tests("VoiceGraph", ["API", "Control", "GraphFile", "Host", "NodeKit", "RemoteGraph", "Server", "VoiceGraph"]),
        tests("Control", ["Control", "Host", "System"]),
        tests("Archive", ["Archive", "Config", "Drivers", "Graph", "GraphFile", "Host", "NodeKit", "System"]),
        tests(
            "Server",
            [
                "API", "Config", "GraphFile", "Host", "JSON", "NodeKit", "Server",
                command("NIOCore", of: "swift-nio"),
            ]
        ),
        tests("Picture", ["Config", "Graph", "GraphFile", "Host", "Picture"]),
        tests("Terminal", ["Graph", "GraphFile", "Host", "Picture", "System", "Terminal"]),
        tests(
            "Plugins",
            [
                "CEspeak", "CSndfile", "Config", "Graph", "GraphFile", "Host", "Models", "NodeKit", "Pronunciation",
                "Resampling", "SpokenText",
            ]),
        tests(
            "Command",
            [
                "Archive", "CSndfile", "Config", "Doctor", "Drivers", "Film", "Graph", "GraphFile", "Host",
                "ModelStore",
                "NodeKit", "Reference", "SpeechDispatcher", "voicegraph",
            ]),
        tests("Fault", ["Control", "GraphFile", "JSON"]),
        tests("Architecture", []),
        // `make lv2-conformance`.
        .executableTarget(
            name: "lv2-conformance",
            dependencies: [
                "Graph", "LV2", "NodeKit", "Realtime", "System",
                command("ArgumentParser", of: "swift-argument-parser"),
            ],
            path: "Tests/Conformance", swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// The fuzzers have no main function of their own, so that only scripts/fuzz can build them.
if Context.environment["VOICEGRAPH_FUZZ"] != nil {
    func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(
            name: "Fuzz\(name)", dependencies: dependencies, path: "Tests/Fuzz/\(name)",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    }
    package.targets += [
        fuzzer("Graph", ["Config", "Graph", "GraphFile", "Nodes"]), fuzzer("Links", ["Config", "GraphFile"]),
        fuzzer("JSON", ["GraphFile", "JSON", "NodeKit"]),
    ]
}

/// Only these test targets, without these files, and what they need.
@MainActor func keep(tests names: [String], without files: [Substring] = []) {
    var needed: Set<String> = []
    @MainActor func need(_ name: String) {
        guard let target = package.targets.first(where: { $0.name == name }), needed.insert(name).inserted else {
            return
        }
        for case .byNameItem(let name, _) in target.dependencies { need(name) }
        guard let path = target.path, target.type == .test else { return }
        target.exclude += files.filter { $0.hasPrefix(path + "/") }.map { String($0.dropFirst(path.count + 1)) }
    }
    for name in names { need("\(name)Tests") }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}

// `.ci/run thread`: the tests of what races. The variable names the files of tests that are none.
if let others = Context.environment["VOICEGRAPH_RACES"] {
    keep(
        tests: ["Graph", "Host", "Isolation", "LV2", "Realtime", "WebAudio"],
        without: others.split(separator: "\n"))
}

// Without the tests that `.ci/run address` leaves out.
if Context.environment["VOICEGRAPH_ADDRESS"] != nil {
    let left = ["Architecture", "Command", "Fault"].map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && left.contains($0.name) }
}

// `make build`: what runs, and nothing that only tests need.
if Context.environment["VOICEGRAPH_RUN"] != nil {
    package.targets.removeAll { $0.path?.hasPrefix("Tests/") ?? false }
}
