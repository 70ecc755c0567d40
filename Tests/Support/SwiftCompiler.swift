// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the compiler makes of sources in Swift that import modules of this build, as SIL, and what it says. `options`: as
/// ["-O"].
public func compileSwift(_ files: [String], options: [String] = []) async throws -> (code: String, errors: String) {
    let scratch = try Scratch()
    let modules = URL(filePath: Program.voicegraph).deletingLastPathComponent().path + "/Modules"
    let c = ["CNode", "CRealtime"].flatMap { name in
        let include = "\(packageRoot)/Sources/\(name)/include"
        return ["-I", include, "-Xcc", "-fmodule-map-file=\(include)/module.modulemap"]
    }
    let result = try await runTool(
        ["swiftc", "-emit-sil", "-o", scratch.file("made.sil"), "-swift-version", "6", "-I", modules] + options + c
            + files, environment: ["LD_PRELOAD": ""], seconds: 300)
    return ((try? String(contentsOfFile: scratch.file("made.sil"), encoding: .utf8)) ?? "", result.output)
}
