// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "PushToTalk",
    dependencies: [.package(name: "voicegraph", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "PushToTalk", dependencies: [.product(name: "VoiceGraph", package: "voicegraph")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
