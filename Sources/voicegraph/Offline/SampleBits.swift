// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NodeKit

/// What the samples of a sound file are: `--bits 16`, `24`, `32` or `float`.
enum SampleBits: String, ExpressibleByArgument, CaseIterable {
    case integers16 = "16"
    case integers24 = "24"
    case integers32 = "32"
    /// Of 32 bits.
    case float

    /// As settings of a `record` node.
    var settings: [String: SettingValue] {
        ["bits": .integer(Int64(rawValue) ?? 32), "float": .bool(self == .float)]
    }

    /// Why a file of this name cannot have them; nil: it can.
    func fault(in path: String) -> String? {
        let name = path.lowercased()
        if name.hasSuffix(".flac"), self == .integers32 || self == .float {
            return "--bits \(rawValue): FLAC has samples of 16 or 24 bits; \(path) may end in .wav"
        }
        guard name.hasSuffix(".ogg") || name.hasSuffix(".opus") else { return nil }
        return "--bits \(rawValue): OGG has no bits; leave it out, or let \(path) end in .wav or .flac"
    }
}

/// What takes the place of the distortion that rounding adds: `--dither tpdf`, `shaped` or `none`.
enum DitherChoice: String, ExpressibleByArgument, CaseIterable {
    case tpdf, shaped, none

    /// Why a file of this name with these bits has none; nil: it may.
    func fault(in path: String, _ bits: SampleBits?) -> String? {
        if bits == .integers16 || bits == .integers24 || bits == nil && path.lowercased().hasSuffix(".flac") {
            return nil
        }
        return "--dither is for samples of 16 or 24 bits: give --bits 16 or 24, or leave it out"
    }
}
