// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import Testing

@testable import LV2

/// Where the packages' plugins are: a test that needs one is skipped, with the reason, where it is not installed.
enum Plugins {
    static let amp = "http://lv2plug.in/plugins/eg-amp"
    static let midigate = "http://lv2plug.in/plugins/eg-midigate"
    static let fifths = "http://lv2plug.in/plugins/eg-fifths"
    static let metro = "http://lv2plug.in/plugins/eg-metro"
    static let sampler = "http://lv2plug.in/plugins/eg-sampler"
    static let params = "http://lv2plug.in/plugins/eg-params"
    static let scope = "http://lv2plug.in/plugins/eg-scope#Stereo"

    static let uris = Set(World.shared.installed(names: false).map(\.uri))
}

/// Skips a test where one of the plugins is not installed.
func needs(_ uris: String..., package: String) -> any TestTrait & SuiteTrait {
    let missing = uris.filter { !Plugins.uris.contains($0) }
    return Testing.ConditionTrait.enabled(
        if: missing.isEmpty, "needs \(missing.joined(separator: ", ")) of the package \(package)")
}

/// The settings of an lv2 node.
func settings(
    _ plugin: String, params: [String: SettingValue] = [:], preset: String? = nil, state: String? = nil
) -> [String: SettingValue] {
    var result: [String: SettingValue] = ["plugin": .string(plugin)]
    if !params.isEmpty { result["params"] = .table(params) }
    if let preset { result["preset"] = .string(preset) }
    if let state { result["state"] = .string(state) }
    return result
}

/// Repeatable noise between -1 and 1.
func noise(_ frames: Int, seed: UInt64 = 1) -> [Float] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<frames).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Float(Int32(truncatingIfNeeded: state)) / Float(1 << 31)
    }
}

/// The largest sample, without sign.
func peak(_ signal: some Sequence<Float>) -> Float { signal.reduce(0) { max($0, abs($1)) } }
