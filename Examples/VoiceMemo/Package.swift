// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "VoiceMemo",
    dependencies: [.package(name: "voicegraph", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "VoiceMemo", dependencies: [.product(name: "VoiceGraph", package: "voicegraph")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
