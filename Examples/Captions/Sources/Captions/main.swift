// SPDX-License-Identifier: Apache-2.0
// Shows what is said in a graph that `voicegraph run` plays, until it ends, and before that the last of what was kept
// here: Captions [SECONDS [LINK]]
// LINK is what `voicegraph web` prints, of this or another machine; without it, the run on this machine is followed.
import Archive
import Glibc
import RemoteGraph

do {
    let arguments = CommandLine.arguments.dropFirst()
    let end = ContinuousClock.now + .seconds(arguments.first.flatMap { Double($0) } ?? 1e9)
    for item in try Archive.open()?.items(limit: 5) ?? [] { print("(\(item.speaker): \(item.text))") }
    fflush(nil)

    let link = arguments.dropFirst().first
    let host = if let link { try await RemoteHost.connect(url: link) } else { try await RemoteHost.connect() }
    let transcript = TranscriptModel(host)
    var shown: Set<TextItem.ID> = []
    while host.isConnected, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(50))
        for item in transcript.items where item.isFinal && shown.insert(item.id).inserted {
            print("\(item.speaker ?? item.id.node): \(item.text)")
            fflush(nil)
        }
    }
} catch {
    print("Captions: \(error)")
    exit(1)
}
