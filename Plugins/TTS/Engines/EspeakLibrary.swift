// SPDX-License-Identifier: GPL-3.0-or-later
import CEspeak
import Glibc
import NodeKit

/// libespeak-ng, loaded anew each time: what it says depends on what it said before, in variables of its own that no
/// call sets back, and ended once it cannot be begun again. Loading it takes a fraction of a millisecond.
enum EspeakLibrary {
    private static let file = "libespeak-ng.so.1"
    private static let cure = "apt install libespeak-ng1"
    /// The library has one state for the whole process.
    private static let monitor = Monitor()
    /// What it needs in turn stays loaded, where it is there: that is most of the work.
    private static let keepsNeeds = ["libpcaudio.so.0", "libsonic.so.0"].allSatisfy { (name: String) in
        (try? Library(name)) != nil
    }

    /// Runs `body` with the library as it is when it was just loaded, and its sample rate in Hz. One at a time in the
    /// process; calls wait for one another. [control] [worker]
    static func fresh<Result>(
        _ body: (vg_espeak, Double) throws(NodeError) -> Result
    ) throws(NodeError) -> Result {
        try monitor.locked { () throws(NodeError) -> Result in
            let (library, functions) = try load()
            defer { library.close() }
            // Without the flag a missing voice folder would end the process.
            let rate = functions.initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, nil, Int32(espeakINITIALIZE_DONT_EXIT))
            guard rate > 0 else {
                throw NodeError("espeak-ng cannot find its voices", hint: "apt install espeak-ng-data")
            }
            // Some variants are made of noise, from the numbers of the C library.
            srand(1)
            defer { _ = functions.terminate() }
            return try body(functions, Double(rate))
        }
    }

    /// Throws if it is not there; whether it can begin is not tried. [control]
    static func require() throws(NodeError) {
        // Somebody speaks with it, which may take long: then it is there.
        guard monitor.tryAcquire() else { return }
        defer { monitor.release() }
        try load().library.close()
    }

    private static func load() throws(NodeError) -> (library: Library, functions: vg_espeak) {
        _ = keepsNeeds
        let library: Library
        do throws(NodeError) { library = try Library(file) } catch {
            throw NodeError("cannot load espeak-ng: \(error.message)", hint: cure)
        }
        var functions = vg_espeak()
        do throws(NodeError) {
            functions.initialize = try library.function("espeak_Initialize")
            functions.terminate = try library.function("espeak_Terminate")
            functions.setCallback = try library.function("espeak_SetSynthCallback")
            functions.setVoiceByName = try library.function("espeak_SetVoiceByName")
            functions.setVoiceByProperties = try library.function("espeak_SetVoiceByProperties")
            functions.currentVoice = try library.function("espeak_GetCurrentVoice")
            functions.listVoices = try library.function("espeak_ListVoices")
            functions.setParameter = try library.function("espeak_SetParameter")
            functions.synth = try library.function("espeak_Synth")
            functions.textToPhonemes = try library.function("espeak_TextToPhonemes")
        } catch {
            library.close()
            throw NodeError(error.message, hint: cure)
        }
        return (library, functions)
    }
}
