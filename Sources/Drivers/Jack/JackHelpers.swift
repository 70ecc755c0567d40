// SPDX-License-Identifier: Apache-2.0
import CJack
import CRealtime
import Graph
import Realtime

/// What a helper's thread is to do.
private final class JackHelp {
    let index: Int
    let engine: AudioEngine
    init(_ index: Int, _ engine: AudioEngine) {
        self.index = index
        self.engine = engine
    }
}

extension HelperThreads {
    /// Has libjack make a thread that is scheduled as the client's audio thread is; nil: it cannot. [control]
    static func jack(_ client: OpaquePointer, _ index: Int, _ engine: AudioEngine) -> Thread? {
        let isRealtime = jack_is_realtime(client)
        let help = Unmanaged.passRetained(JackHelp(index, engine))
        var thread = jack_native_thread_t()
        let failed = jack_client_create_thread(
            client, &thread, max(0, jack_client_real_time_priority(client)), isRealtime,
            { @Sendable argument in
                let help = Unmanaged<JackHelp>.fromOpaque(argument!).takeRetainedValue()
                vg_thread_name(HelperThreads.name(help.index))
                vg_lock_stack()
                help.engine.help(help.index)
                return nil
            }, help.toOpaque())
        guard failed == 0 else {
            help.release()
            return nil
        }
        return Thread { jack_client_stop_thread(client, thread) }
    }
}
