// SPDX-License-Identifier: Apache-2.0
import VoiceGraph

let host = Host()
try await host.load(
    Graph("memo") {
        Input("mic", connect: ["system:capture_1"]) => Record("take", path: "memo.flac", autostart: false)
    })
try await host.run()
