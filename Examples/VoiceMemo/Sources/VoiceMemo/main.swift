// SPDX-License-Identifier: Apache-2.0
// Records the microphone until Enter is pressed, or for so many seconds: VoiceMemo FILE.flac [SECONDS]
import Glibc
import VoiceGraph

guard CommandLine.arguments.count > 1 else {
    print("usage: VoiceMemo FILE.flac [SECONDS]")
    exit(64)
}
let path = CommandLine.arguments[1]
let limit = CommandLine.arguments.dropFirst(2).first.flatMap { Double($0) }

do {
    let host = Host()
    let recorder = RecorderModel(host)
    try await host.load(.recording(path, mode: .spokenAudio, from: ["system:capture_1"]))
    try await host.run()
    try await recorder.start(limit: limit)
    if limit == nil {
        print("It records; press Enter to end.")
        _ = await Task.detached { readLine() }.value
        try await recorder.finish()
    }
    while recorder.last == nil, recorder.failure == nil { try await Task.sleep(for: .milliseconds(50)) }
    await host.stop()
    guard let memo = recorder.last else {
        print("It was not recorded: \(recorder.failure ?? "")")
        exit(1)
    }
    print(
        "\(memo.path): \(memo.seconds) s, at most \(Int(recorder.levels.max() ?? -200)) dBFS, \(memo.dropped) frames lost"
    )
} catch {
    print("VoiceMemo: \(error)")
    exit(1)
}
