// SPDX-License-Identifier: Apache-2.0
import VoiceGraph

let host = Host()
let recorder = RecorderModel(host)
try await host.load(
    Graph("memo") {
        Input("mic", connect: ["system:capture_1"]) => Record("take", path: "memo.flac", autostart: false)
    })
try await host.run()

try await recorder.start(limit: 10)
while recorder.last == nil, recorder.failure == nil {
    let level = recorder.levels.last ?? -200
    print(Int(recorder.seconds), String(repeating: "#", count: max(0, Int(level) + 60)))
    try await Task.sleep(for: .milliseconds(100))
}
await host.stop()

if let memo = recorder.last {
    print("\(memo.path): \(memo.seconds) s, \(memo.dropped) frames lost")
} else {
    print("It was not recorded: \(recorder.failure ?? "")")
}
