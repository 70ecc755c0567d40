// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package of its own, so that nobody who builds or tests the host waits for it.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "voicegraph", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "CPeers", cSettings: [.unsafeFlags(["-O3"])],
            linkerSettings: [.linkedLibrary("jack"), .linkedLibrary("dl")]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CPeers", .product(name: "VoiceGraph", package: "voicegraph"),
                .product(name: "VoiceGraphArchive", package: "voicegraph"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
