// SPDX-License-Identifier: Apache-2.0
// An assistant that listens between two presses of Enter, until Ctrl-D: PushToTalk [TEXT...]
// Texts are said for you; after the last answer it ends.
import Glibc
import VoiceGraph

var shown: Set<TextItem.ID> = []
@MainActor func show(_ conversation: ConversationModel) {
    for item in conversation.items where item.isFinal && shown.insert(item.id).inserted {
        print("\(item.isReply ? "assistant" : "you"): \(item.text)")
    }
}

do {
    let host = Host()
    let conversation = ConversationModel(host)
    try await host.load(
        Graph("push-to-talk") {
            let (vad, text, voice) = (VAD("vad"), Transcribe("text", gated: true), TTS("voice"))
            let agent = Agent("agent", backend: .rules)
            Input("mic", connect: ["system:capture_1"])
                => vad => text => agent => voice => Output("out", channels: 1, connect: ["system:playback_*"])
            Switch("talk", mode: .toggle)["off"] => vad["mute"]
            vad["speech"] => text["gate"]
            voice["speaking"] => agent["speaking"]
        })
    try await host.run()

    let texts = CommandLine.arguments.dropFirst()
    for text in texts {
        let before = conversation.items.count { $0.isReply && $0.isFinal }
        try await conversation.send(text)
        while conversation.items.count(where: { $0.isReply && $0.isFinal }) == before, conversation.failure == nil {
            try await Task.sleep(for: .milliseconds(50))
        }
        show(conversation)
    }
    if texts.isEmpty {
        print("Press Enter to talk, and Enter again when you have said it.")
        let shows = Task {
            while !Task.isCancelled {
                show(conversation)
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        while await Task.detached(operation: { readLine() }).value != nil {
            _ = try await host.perform("toggle", on: "talk")
        }
        shows.cancel()
    } else {
        while await !host.isIdle { try await Task.sleep(for: .milliseconds(20)) }
    }
    await host.stop()
} catch {
    print("PushToTalk: \(error)")
    exit(1)
}
