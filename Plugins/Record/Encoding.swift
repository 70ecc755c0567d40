// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// How samples become a file.
struct Encoding {
    /// What the settings ask for; nil: what is usual for the format.
    struct Wishes {
        static let bits = Key.integer("bits", "of a sample: 16, 24 or 32 (.wav), 16 or 24 (.flac)", in: 16...32)
        static let isFloat = Key.flag(
            "float", "samples of a .wav are floats, and nothing is clipped; unset: those of 32 bits are")
        static let dither = Key.choice(
            "dither", "noise that takes the place of what rounding to integers would add", default: Dither.Kind.tpdf)
        static let quality = Key.number(
            "quality", "of .ogg, from the smallest to the best; of .flac, from the fastest to the smallest", in: 0...1)
        static let rate = Key.number("rate", "of the file; unset: that of the audio", in: 4000...384_000, unit: "Hz")
        static let channels = Key.integer(
            "file_channels", "of the file: 1, the mean of all, or as many as come", in: 1...64)

        var bits: Int?
        /// Whether samples are floats; nil: as is usual for the bits.
        var isFloat: Bool?
        var dither: Dither.Kind
        var quality: Double?
        /// Hz of the file; nil: that of the audio.
        var rate: Double?
        /// Of the file; nil: those of the audio.
        var channels: Int?

        init(_ settings: Settings) throws(NodeError) {
            bits = try settings[Self.bits]
            isFloat = try settings[Self.isFloat]
            dither = try settings[Self.dither]
            quality = try settings[Self.quality]
            rate = try settings[Self.rate]
            channels = try settings[Self.channels]
        }
    }

    /// Of libsndfile.
    let format: Int32
    /// Of a sample; nil: samples stay floats.
    let bits: Int?
    let dither: Dither.Kind
    let quality: Double?
    /// Whether the file states its length at its head; the other formats would get a second head in their middle.
    let hasLength: Bool
    /// Whether libsndfile is not to write it.
    private let isVorbis: Bool
    /// Hz that the format knows; nil: all.
    private(set) var rates: [Int]?

    /// Checks suffix and wishes. [control]
    init(_ path: String, _ wishes: Wishes, channels: Int) throws(NodeError) {
        let name = path.lowercased()
        quality = wishes.quality
        isVorbis = name.hasSuffix(".ogg")
        hasLength = name.hasSuffix(".wav")
        if hasLength {
            let bits = wishes.bits ?? (wishes.isFloat == false ? 24 : 32)
            let isFloat = wishes.isFloat ?? (bits == 32)
            if isFloat, bits != 32 {
                throw NodeError(
                    "floats have 32 bits, not \(bits)", hint: "leave out bits or float", key: Wishes.isFloat.name)
            }
            let integers = [16: SF_FORMAT_PCM_16, 24: SF_FORMAT_PCM_24, 32: SF_FORMAT_PCM_32]
            guard let sample = isFloat ? SF_FORMAT_FLOAT : integers[bits] else {
                throw Self.unknown(bits, "WAV", "16, 24 or 32")
            }
            if quality != nil {
                throw NodeError("WAV has no quality", hint: "use bits, or .ogg", key: Wishes.quality.name)
            }
            // RF64 is what WAV becomes beyond 4 GiB (EBU Tech 3306); until then libsndfile writes a WAV's head.
            format = Int32(SF_FORMAT_RF64 | sample)
            self.bits = isFloat ? nil : bits
        } else if name.hasSuffix(".flac") {
            let bits = wishes.bits ?? 24
            let sample = [16: SF_FORMAT_PCM_16, 24: SF_FORMAT_PCM_24][bits]
            guard let sample else { throw Self.unknown(bits, "FLAC", "16 or 24") }
            if channels > 8 {
                throw NodeError(
                    "FLAC holds 8 channels, not \(channels)", hint: "end it in .wav", key: Record.channels.name)
            }
            format = Int32(SF_FORMAT_FLAC | sample)
            self.bits = bits
        } else if name.hasSuffix(".ogg") || name.hasSuffix(".opus") {
            if wishes.bits != nil {
                throw NodeError("OGG has no bits", hint: "use quality, or .flac", key: Wishes.bits.name)
            }
            let isOpus = name.hasSuffix(".opus")
            format = Int32(SF_FORMAT_OGG | (isOpus ? SF_FORMAT_OPUS : SF_FORMAT_VORBIS))
            bits = nil
            if isOpus { rates = [8000, 12000, 16000, 24000, 48000] }
        } else {
            throw NodeError(
                "cannot tell the format of \(path)", hint: "end it in .wav, .flac, .ogg or .opus",
                key: Record.path.name)
        }
        if wishes.isFloat == true, !hasLength {
            throw NodeError(
                "only WAV has floats", hint: "take out float, or end it in .wav", key: Wishes.isFloat.name)
        }
        // A float has fewer bits than 32: there is nothing to round.
        dither = bits == 32 ? .none : wishes.dither
        if let wanted = wishes.rate, let rates, !rates.contains(Int(wanted)) {
            throw NodeError(
                "Opus has no \(Int(wanted)) Hz", hint: "use \(rates.map(String.init).joined(separator: ", "))",
                key: Wishes.rate.name)
        }
    }

    /// The file's rate, where the audio has `rate` Hz: that, or the next above it that the format has.
    func rate(_ rate: Double, _ wanted: Double?) -> Double {
        if let wanted { return wanted }
        guard let rates, !rates.contains(Int(rate)) else { return rate }
        return Double(rates.first { Double($0) >= rate } ?? 48000)
    }

    private static func unknown(_ bits: Int, _ format: String, _ known: String) -> NodeError {
        NodeError("\(format) has no samples of \(bits) bits here", hint: "use \(known)", key: Wishes.bits.name)
    }

    /// Begins a file of it. `stamp`: when its first frame is recorded; nil: it is rendered, and the same in every run.
    /// [control]
    func sink(_ output: TakeOutput, channels: Int, rate: Double, stamp: time_t?) throws(NodeError) -> any SampleSink {
        guard isVorbis else {
            return try SoundFileSink(output, self, channels: channels, rate: rate, stamp: stamp)
        }
        return try VorbisSink(
            output, channels: channels, rate: rate, quality: quality ?? 0.4,
            serial: stamp == nil ? 1 : Int32.random(in: 1 ... .max))
    }

    /// Asks for what a fresh file should be like. [control]
    func apply(to file: OpaquePointer, rate: Double) {
        sf_command(file, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, 1)
        sf_command(file, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, 0)
        func set(_ command: some BinaryInteger, _ value: Double) {
            var value = value
            sf_command(file, Int32(command), &value, Int32(MemoryLayout<Double>.size))
        }
        if bits == nil {
            if let quality { set(SFC_SET_VBR_ENCODING_QUALITY, quality) }
            // How much of an Opus waits for its page, in ms: a crash costs it.
            set(SFC_SET_OGG_PAGE_LATENCY_MS, 50)
        } else if let level = quality ?? (rate < 32_000 ? 0.25 : nil) {
            // Of libFLAC's levels 0 to 8 those up to 2 work in blocks of 1152 frames, the others of 4096, which are long at a
            // low rate.
            set(SFC_SET_COMPRESSION_LEVEL, level)
        }
    }
}
