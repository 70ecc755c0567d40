// SPDX-License-Identifier: GPL-3.0-or-later
import CEspeak
import Glibc
import NodeKit

/// libespeak-ng, loaded anew each time: what it says depends on what it said before, in variables of its own that no
/// call sets back, and ended once it cannot be begun again. Loading it takes a fraction of a millisecond.
struct EspeakLibrary {
    typealias ListVoices =
        @convention(c) (UnsafeMutablePointer<espeak_VOICE>?) -> UnsafeMutablePointer<
            UnsafeMutablePointer<espeak_VOICE>?
        >?

    /// The header's name for it is that of a function, not of its address.
    typealias Callback =
        @convention(c) (UnsafeMutablePointer<Int16>?, Int32, UnsafeMutablePointer<espeak_EVENT>?) ->
        Int32

    private static let file = "libespeak-ng.so.1"
    /// The library has one state for the whole process.
    private static let monitor = Monitor()
    /// What it needs in turn stays loaded, where it is there: that is most of the work.
    private static let keepsNeeds = ["libpcaudio.so.0", "libsonic.so.0"].allSatisfy { (name: String) in
        dlopen(name, RTLD_NOW | RTLD_LOCAL) != nil
    }

    private let handle: UnsafeMutableRawPointer
    private let initialize: @convention(c) (espeak_AUDIO_OUTPUT, Int32, UnsafePointer<CChar>?, Int32) -> Int32
    private let terminate: @convention(c) () -> espeak_ERROR
    let setCallback: @convention(c) (Callback?) -> Void
    let setVoiceByName: @convention(c) (UnsafePointer<CChar>?) -> espeak_ERROR
    let setVoiceByProperties: @convention(c) (UnsafeMutablePointer<espeak_VOICE>?) -> espeak_ERROR
    let currentVoice: @convention(c) () -> UnsafeMutablePointer<espeak_VOICE>?
    let listVoices: ListVoices
    let setParameter: @convention(c) (espeak_PARAMETER, Int32, Int32) -> espeak_ERROR
    let synth:
        @convention(c) (
            UnsafeRawPointer?, Int, UInt32, espeak_POSITION_TYPE, UInt32, UInt32, UnsafeMutablePointer<UInt32>?,
            UnsafeMutableRawPointer?
        ) -> espeak_ERROR
    let textToPhonemes: @convention(c) (UnsafeMutablePointer<UnsafeRawPointer?>?, Int32, Int32) -> UnsafePointer<CChar>?

    /// Runs `body` with the library as it is when it was just loaded, and its sample rate in Hz. One at a time in the
    /// process; calls wait for one another. [control] [worker]
    static func fresh<Result>(
        _ body: (EspeakLibrary, Double) throws(NodeError) -> Result
    ) throws(NodeError) -> Result {
        try monitor.locked { () throws(NodeError) -> Result in
            _ = keepsNeeds
            let library = try EspeakLibrary()
            defer { dlclose(library.handle) }
            // Without the flag a missing voice folder would end the process.
            let rate = library.initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, nil, Int32(espeakINITIALIZE_DONT_EXIT))
            guard rate > 0 else {
                throw NodeError("espeak-ng cannot find its voices", hint: "apt install espeak-ng-data")
            }
            // Some variants are made of noise, from the numbers of the C library.
            srand(1)
            defer { _ = library.terminate() }
            return try body(library, Double(rate))
        }
    }

    /// Throws if it is not there; whether it can begin is not tried. [control]
    static func require() throws(NodeError) {
        // Somebody speaks with it, which may take long: then it is there.
        guard monitor.tryAcquire() else { return }
        defer { monitor.release() }
        _ = keepsNeeds
        let library = try EspeakLibrary()
        dlclose(library.handle)
    }

    private init() throws(NodeError) {
        guard let handle = dlopen(Self.file, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "it is not there"
            throw NodeError("cannot load espeak-ng: \(reason)", hint: "apt install libespeak-ng1")
        }
        func function<F>(_ name: String) throws(NodeError) -> F {
            guard let address = dlsym(handle, name) else {
                dlclose(handle)
                throw NodeError("\(Self.file) has no function \(name)", hint: "apt install libespeak-ng1")
            }
            // The type is that of the header.
            return unsafeBitCast(address, to: F.self)
        }
        self.handle = handle
        initialize = try function("espeak_Initialize")
        terminate = try function("espeak_Terminate")
        setCallback = try function("espeak_SetSynthCallback")
        setVoiceByName = try function("espeak_SetVoiceByName")
        setVoiceByProperties = try function("espeak_SetVoiceByProperties")
        currentVoice = try function("espeak_GetCurrentVoice")
        listVoices = try function("espeak_ListVoices")
        setParameter = try function("espeak_SetParameter")
        synth = try function("espeak_Synth")
        textToPhonemes = try function("espeak_TextToPhonemes")
    }
}
