// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import NodeKit

/// The libraries of PocketSphinx, loaded when they are needed.
struct PocketSphinxLibrary: @unchecked Sendable {
    // Sendable: addresses of functions; what they work on is one thread's at a time.
    let functions: vg_pocketsphinx

    /// What installs it, with the English model that it needs.
    static let cure = "apt install \(packages)"
    private static let packages = "libpocketsphinx3 pocketsphinx-en-us"

    private static let loaded = Lock<PocketSphinxLibrary?>(nil)

    /// Loads them, once a process. [control]
    static func load() throws(NodeError) -> PocketSphinxLibrary {
        try loaded.withLock { loaded throws(NodeError) in
            if let loaded { return loaded }
            let library = try PocketSphinxLibrary()
            loaded = library
            return library
        }
    }

    private init() throws(NodeError) {
        // The first one comes with the second.
        let base = try Library(["libsphinxbase.so.3"], package: Self.packages)
        let library = try Library(["libpocketsphinx.so.3"], package: Self.packages)
        var functions = vg_pocketsphinx()
        functions.ps_args = try library.function("ps_args")
        functions.ps_init = try library.function("ps_init")
        functions.ps_free = try library.function("ps_free")
        functions.ps_start_stream = try library.function("ps_start_stream")
        functions.ps_start_utt = try library.function("ps_start_utt")
        functions.ps_process_raw = try library.function("ps_process_raw")
        functions.ps_end_utt = try library.function("ps_end_utt")
        functions.ps_get_hyp = try library.function("ps_get_hyp")
        functions.ps_get_logmath = try library.function("ps_get_logmath")
        functions.ps_seg_iter = try library.function("ps_seg_iter")
        functions.ps_seg_next = try library.function("ps_seg_next")
        functions.ps_seg_word = try library.function("ps_seg_word")
        functions.ps_seg_frames = try library.function("ps_seg_frames")
        functions.ps_seg_prob = try library.function("ps_seg_prob")
        functions.cmd_ln_parse_r = try base.function("cmd_ln_parse_r")
        functions.cmd_ln_free_r = try base.function("cmd_ln_free_r")
        functions.logmath_exp = try base.function("logmath_exp")
        functions.err_set_logfp = try base.function("err_set_logfp")
        functions.err_set_callback = try base.function("err_set_callback")
        self.functions = functions
    }
}

/// A decoder of PocketSphinx: what it searches for was given when it was made. By one thread at a time.
final class PocketSphinx {
    /// Something that it found.
    struct Segment: Equatable {
        var text: String
        /// Frames of 10 ms since the stream began: the first and the last.
        var first, last: Int
        /// 0 to 1.
        var confidence: Double
    }

    /// Frames of its segments in a second.
    static let frameRate = 100.0

    private let functions: vg_pocketsphinx
    private let decoder: OpaquePointer
    private var isOpen = false

    /// Makes one, with options as its command line takes them. [worker]
    init(_ options: [String]) throws(NodeError) {
        let functions = try PocketSphinxLibrary.load().functions
        self.functions = functions
        listen(to: functions)
        guard let known = functions.ps_args!() else { throw NodeError("PocketSphinx knows no options") }
        // Silence stays, or the times of words would be of a shorter stream.
        var arguments = (["pocketsphinx", "-remove_silence", "no"] + options).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        guard let configuration = functions.cmd_ln_parse_r!(nil, known, Int32(arguments.count), &arguments, 1) else {
            throw NodeError("PocketSphinx refuses its options: \(Self.reason)")
        }
        // The decoder keeps it as well.
        defer { _ = functions.cmd_ln_free_r!(configuration) }
        guard let made = functions.ps_init!(configuration) else {
            throw NodeError("PocketSphinx cannot begin: \(Self.reason)")
        }
        decoder = made
    }

    deinit {
        if isOpen { _ = functions.ps_end_utt!(decoder) }
        _ = functions.ps_free!(decoder)
    }

    /// What comes is a new utterance; of a new stream, in which times count from 0 again, unless it goes on. [worker]
    func begin(goingOn: Bool = false) throws(NodeError) {
        end()
        if !goingOn { _ = functions.ps_start_stream!(decoder) }
        if functions.ps_start_utt!(decoder) < 0 { throw NodeError("PocketSphinx cannot begin: \(Self.reason)") }
        isOpen = true
    }

    /// The next samples of the utterance; `isWhole`: there are no others, so that what they have in common, as the microphone
    /// or the room makes it, is known and taken off (cepstral mean normalization). [worker]
    func take(_ samples: ArraySlice<Float>, isWhole: Bool = false) throws(NodeError) {
        let integers = pcm16(samples)
        if functions.ps_process_raw!(decoder, integers, integers.count, 0, isWhole ? 1 : 0) < 0 {
            throw NodeError("PocketSphinx fails: \(Self.reason)")
        }
    }

    /// The utterance has ended; it may be thought about again, which can take a second. [worker]
    func end() {
        if isOpen { _ = functions.ps_end_utt!(decoder) }
        isOpen = false
    }

    /// What was understood of the utterance, so far or in all; nil: nothing. [worker]
    var text: String? { functions.ps_get_hyp!(decoder, nil).map { trimmed(String(cString: $0)) } }

    /// The same in segments, with those that are no words. [worker]
    var segments: [Segment] {
        var result: [Segment] = []
        var next = functions.ps_seg_iter!(decoder)
        let logarithms = functions.ps_get_logmath!(decoder)
        while let segment = next {
            var (first, last): (Int32, Int32) = (0, 0)
            functions.ps_seg_frames!(segment, &first, &last)
            let probability = functions.ps_seg_prob!(segment, nil, nil, nil)
            let confidence = logarithms.map { functions.logmath_exp!($0, probability) } ?? 1
            let text = functions.ps_seg_word!(segment).map { trimmed(String(cString: $0)) } ?? ""
            result.append(
                Segment(text: text, first: Int(first), last: Int(last), confidence: min(1, max(0, confidence))))
            next = functions.ps_seg_next!(segment)
        }
        return result
    }

    private static var reason: String {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(VG_SPHINX_MESSAGE)) { text in
            vg_pocketsphinx_error(text.baseAddress!)
            return String(cString: text.baseAddress!)
        }
        return text.isEmpty ? "it does not say why" : trimmed(text)
    }
}

private func listen(to functions: vg_pocketsphinx) {
    withUnsafePointer(to: functions) { vg_pocketsphinx_listen($0) }
}
