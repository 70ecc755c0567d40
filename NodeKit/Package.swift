// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// What a plugin in Swift and its tests need, and nothing else: no dependency, so that it builds without a network.
// `make install` copies it to PREFIX/share/voicegraph.
let strict: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
    name: "NodeKit",
    products: [
        .library(name: "NodeKit", targets: ["NodeKit"]), .library(name: "NodeTesting", targets: ["NodeTesting"]),
    ],
    targets: [
        .target(name: "CNode", cSettings: [.unsafeFlags(["-Xclang", "-mframe-pointer=none"])]),
        .target(name: "CRealtime", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
        .target(name: "System", dependencies: ["CRealtime"], swiftSettings: strict),
        .target(
            name: "Realtime", dependencies: ["CRealtime"],
            swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]),
        .target(
            name: "NodeKit", dependencies: ["CNode", "Realtime", "System"], exclude: ["DESIGN.md"],
            // Values that cannot outlive a block.
            swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        // What only tests of plugins need: the host's side of a node.
        .target(name: "JSON", swiftSettings: strict),
        .target(
            name: "GraphFile", dependencies: ["JSON", "NodeKit", "System"], exclude: ["DESIGN.md"],
            swiftSettings: strict),
        .target(
            name: "Graph", dependencies: ["GraphFile", "NodeKit", "Realtime", "System"], exclude: ["DESIGN.md"],
            swiftSettings: strict),
        .target(
            name: "NodeTrials", dependencies: ["Graph", "NodeKit", "Realtime", "System"], exclude: ["DESIGN.md"],
            swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]),
        .target(name: "NodeTesting", dependencies: ["NodeKit", "NodeTrials"], swiftSettings: strict),
    ]
)
