// SPDX-License-Identifier: Apache-2.0
import VoiceGraph

let host = Host()
try await host.load(Graph("clock") { TTS("voice") => Output("out", connect: ["system:playback_*"]) })
try await host.run()
