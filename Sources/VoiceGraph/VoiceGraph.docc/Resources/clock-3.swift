// SPDX-License-Identifier: Apache-2.0
import Glibc
import VoiceGraph

let host = Host()
try await host.load(Graph("clock") { TTS("voice") => Output("out", connect: ["system:playback_*"]) })
try await host.run()

while true {
    var now = time(nil)
    let clock = localtime(&now).pointee
    try await host.say("It is \(clock.tm_hour) \(clock.tm_min == 0 ? "o'clock" : String(clock.tm_min)).")
    try await Task.sleep(for: .seconds(60 - Int(clock.tm_sec)))
}
