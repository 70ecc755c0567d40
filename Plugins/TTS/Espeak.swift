// SPDX-License-Identifier: GPL-3.0-or-later
import CEspeak
import Glibc
import NodeKit

/// How a text is to be spoken.
struct Voice: Sendable, Equatable {
    var name = "en-us"
    /// Words per minute.
    var rate = 175
    var pitch = 50
    /// In percent of its own; what is above 100 is done by `SpeechLimiter`.
    var volume = 100
    var ssml = SSML.auto
}

/// espeak-ng has one state for the whole process, so one lock guards it for all nodes.
enum Espeak {
    /// A word and the instant at which it begins.
    struct Word {
        /// Index of the first unicode scalar and how many there are.
        var start, length: Int
        /// Since the start of the text, in milliseconds.
        var time: Int
    }

    private final class State: @unchecked Sendable {
        // Sendable: guarded by `monitor`.
        let monitor = Monitor()
        /// Hz; 0: not started yet; negative: cannot be started.
        var rate: Int32 = 0
        var deliver: ((UnsafeBufferPointer<Int16>, [Word]) -> Bool)?
    }

    private static let state = State()

    /// Finds a voice by its name or a language tag. Returns what espeak-ng calls it, and who speaks if that is not what
    /// was asked for. The first call loads the voice data, which takes some 20 ms. [control]
    static func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        let result: Result<(String, String?), NodeError> = state.monitor.locked {
            do throws(NodeError) {
                try start()
                return .success(try VoiceSearch.find(voice))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Speaks a text into `deliver`, which gets samples and the words that begin in or after them, and may return
    /// false to end it. Returns the sample rate in Hz through `begin` before the first samples. [worker]
    static func synthesize(
        _ text: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void,
        deliver: @escaping (UnsafeBufferPointer<Int16>, [Word]) -> Bool
    ) throws(NodeError) {
        let problem: NodeError? = state.monitor.locked {
            do throws(NodeError) {
                try start()
                try VoiceSearch.select(voice.name)
            } catch { return error }
            espeak_SetParameter(espeakRATE, Int32(voice.rate), 0)
            espeak_SetParameter(espeakPITCH, Int32(voice.pitch), 0)
            espeak_SetParameter(espeakVOLUME, Int32(min(voice.volume, 100)), 0)
            begin(Double(state.rate))
            state.deliver = deliver
            let flags = UInt32(espeakCHARS_UTF8) | (isMarkup ? UInt32(espeakSSML) : 0)
            let result = text.withCString { espeak_Synth($0, strlen($0) + 1, 0, POS_CHARACTER, 0, flags, nil, nil) }
            state.deliver = nil
            return result == EE_OK ? nil : NodeError("espeak-ng failed with code \(result.rawValue)")
        }
        if let problem { throw problem }
    }

    private static func start() throws(NodeError) {
        if state.rate == 0 {
            // Without the flag a missing voice folder would end the process.
            state.rate = espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, nil, Int32(espeakINITIALIZE_DONT_EXIT))
            if state.rate > 0 { espeak_SetSynthCallback { Espeak.receive($0, $1, $2) } }
        }
        if state.rate <= 0 {
            throw NodeError("espeak-ng cannot find its voices", hint: "apt install espeak-ng-data")
        }
    }

    private static func receive(
        _ samples: UnsafeMutablePointer<Int16>?, _ count: Int32, _ events: UnsafeMutablePointer<espeak_EVENT>?
    ) -> Int32 {
        var words: [Word] = []
        var event = events
        while let current = event, current.pointee.type != espeakEVENT_LIST_TERMINATED {
            if current.pointee.type == espeakEVENT_WORD {
                words.append(
                    Word(
                        start: max(0, Int(current.pointee.text_position) - 1), length: Int(current.pointee.length),
                        time: Int(current.pointee.audio_position)))
            }
            event = current + 1
        }
        let buffer = UnsafeBufferPointer(start: samples, count: samples == nil ? 0 : Int(count))
        return state.deliver?(buffer, words) == true ? 0 : 1  // runs inside synthesize, with the lock held
    }
}
