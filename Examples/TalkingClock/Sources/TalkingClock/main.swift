// SPDX-License-Identifier: Apache-2.0
// Says the time, and again with every minute: TalkingClock [TIMES]
import Glibc
import VoiceGraph

do {
    let host = Host()
    try await host.load(Graph("clock") { TTS("voice") => Output("out", connect: ["system:playback_*"]) })
    try await host.run()

    var left = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? .max
    while true {
        var now = time(nil)
        let clock = localtime(&now).pointee
        print(String(clock.tm_hour) + (clock.tm_min < 10 ? ":0" : ":") + String(clock.tm_min))
        try await host.say("It is \(clock.tm_hour) \(clock.tm_min == 0 ? "o'clock" : String(clock.tm_min)).")
        left -= 1
        if left == 0 { break }
        try await Task.sleep(for: .seconds(60 - Int(clock.tm_sec)))
    }
    // What was said is heard to its end.
    while await !host.isIdle { try await Task.sleep(for: .milliseconds(20)) }
    await host.stop()
} catch {
    print("TalkingClock: \(error)")
    exit(1)
}
