// SPDX-License-Identifier: Apache-2.0
// Shows how loud the microphone is, until Ctrl-C: TerminalMeter [SECONDS]
import Glibc
import VoiceGraph

/// Characters for a level, 2 dB each, from -80 dBFS on.
func width(_ decibels: Double) -> Int { max(0, min(40, Int((decibels + 80) / 2))) }

do {
    let host = Host()
    let levels = LevelsModel(host)
    try await host.load(
        Graph("meter") { Input("mic", connect: ["system:capture_1"]) => Meter("level") => SinkNode("end") { _ in } })
    try await host.run()
    // Why nothing is heard, as where no server runs.
    if let notice = await host.status?.notice, !notice.isEmpty { print(notice) }

    let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 1e9
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(50))
        guard let level = levels.levels["level"], let rms = level.rms.first, let peak = level.peak.first else {
            continue
        }
        var bar = Array(String(repeating: "#", count: width(rms)) + String(repeating: " ", count: 41 - width(rms)))
        bar[width(peak)] = "|"
        print("\r\(String(bar)) \(Int(rms.rounded())) dBFS   ", terminator: "")
        fflush(nil)
    }
    print()
    await host.stop()
} catch {
    print("TerminalMeter: \(error)")
    exit(1)
}
