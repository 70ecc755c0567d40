// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NodeKit
import TestSupport

@testable import LV2

/// What lilv prints about broken data.
@Suite(.timeLimit(.minutes(2)))
struct LilvMessageTests {
    @Test("Broken manifests are told to whoever asks")
    func manifestsAreTold() throws {
        let world = World(path: [try BrokenBundles.folder()])
        let messages = world.locked { _ in world.messages }
        #expect(messages.contains { $0.contains("bad-manifest.lv2/manifest.ttl:11:26: missing") })
    }

    @Test("While one thread reads data, what it prints is kept, and what others print comes out")
    func othersAreHeard() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            var lines: [String] = []
            LilvMessages.collect(into: &lines) {
                perror("complaint 1")
                let other = Thread { perror("from elsewhere") }
                other.start()
                while !other.isFinished { usleep(1000) }
                perror("complaint 2")
            }
            perror("afterwards")
            #expect(lines.map { String($0.prefix(12)) } == ["complaint 1:", "complaint 2:"])
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("from elsewhere:"))
        #expect(text.contains("afterwards:"))
        #expect(!text.contains("complaint 1:"))
    }
}
