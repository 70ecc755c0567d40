// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "Captions",
    dependencies: [.package(name: "voicegraph", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "Captions",
            dependencies: [
                .product(name: "RemoteGraph", package: "voicegraph"),
                .product(name: "VoiceGraphArchive", package: "voicegraph"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
