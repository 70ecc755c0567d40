// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization
import System
import TestSupport

@testable import WebAudio

/// The audio thread, the threads of clients, the control thread of the node and its end at the same time, for the thread
/// sanitizer.
@Suite(.timeLimit(.minutes(10))) struct WebAudioRaceTests {
    /// A node whose audio and control calls come from two threads, as those of a host do.
    private final class Runner: @unchecked Sendable {
        // Sendable: the harness runs blocks on one thread; the other calls are the instance's, which takes them from any.
        private let harness: NodeHarness
        private let isDone = Atomic<Bool>(false)
        private var threads: [SystemThread] = []
        /// Samples that were heard, and those that nobody has sent.
        private let heardOnes = Atomic(0)
        private(set) var wrong = 0

        var heard: Int { heardOnes.load(ordering: .relaxed) }

        init(_ type: UnsafePointer<vg_node_type>, _ name: String) throws {
            harness = try NodeHarness(type, ["channels": .integer(2)], maxBlock: 128, name: name)
            harness.polls = false
            let input = [[Float]](repeating: Array(repeating: 0.5, count: 128), count: 2)
            threads.append(
                try SystemThread(name: "vgt-audio") { [self] in
                    while !isDone.load(ordering: .acquiring) {
                        for sample in harness.run([128], inputs: input).first ?? [] {
                            if sample != 0 { heardOnes.add(1, ordering: .relaxed) }
                            // Of a constant comes no more than that, fades, and what the resampler makes of an end.
                            if !(sample > -0.1 && sample < 0.6) { wrong += 1 }
                        }
                        sched_yield()
                    }
                })
            threads.append(
                try SystemThread(name: "vgt-control") { [self] in
                    while !isDone.load(ordering: .acquiring) {
                        harness.instance.poll()
                        sched_yield()
                    }
                })
        }

        func stop() {
            isDone.store(true, ordering: .releasing)
            for thread in threads { thread.join() }
        }

        func finish() { harness.instance.finish() }
    }

    private let rounds = stressed(100)

    /// Sends a constant, and leaves after so many messages.
    private func send(_ stream: WebInputStream, messages: Int) -> Bool {
        let frames = [Float](repeating: 0.5, count: 256)
        for message in 0..<messages {
            let taken = frames.withUnsafeBufferPointer { stream.push(position: UInt32(message * 128), frames: $0) }
            if !taken { return false }
            sched_yield()
        }
        return true
    }

    @Test("Clients come, send and leave while the audio thread plays") func inputs() throws {
        let streams = WebStreams()
        let runner = try Runner(streams.type("web-input"), "mic")
        let opened = Atomic(0)
        // Each as long as the other has not left, and until something was heard: on a busy machine the audio thread may get
        // no turn while all of them come and go.
        let come: @Sendable (Double) -> Void = { rate in
            var round = 0
            while round < self.rounds || runner.heard == 0 {
                guard let stream = try? streams.openInput("mic", rate: rate, channels: 2, client: "\(rate)") else {
                    sched_yield()
                    continue
                }
                opened.add(1, ordering: .relaxed)
                _ = self.send(stream, messages: 40)
                _ = streams.clients(of: "mic")
                round += 1
            }
        }
        together({ come(44_100) }) { come(96_000) }
        runner.stop()
        #expect(opened.load(ordering: .relaxed) >= 2 * rounds)
        #expect(runner.wrong == 0 && runner.heard > 0)
        #expect(streams.clients(of: "mic").isEmpty)
    }

    @Test("Listeners come, pull and leave while the audio thread plays") func outputs() throws {
        let streams = WebStreams()
        let runner = try Runner(streams.type("web-output"), "ears")
        let wrong = Atomic(0)
        let pulled = Atomic(0)
        let listen: @Sendable (Double) -> Void = { rate in
            var buffer = [Float](repeating: 0, count: 512)
            for _ in 0..<self.rounds {
                guard let stream = try? streams.openOutput("ears", rate: rate, channels: 2, client: "\(rate)") else {
                    return
                }
                for pull in 0..<40 {
                    guard let part = buffer.withUnsafeMutableBufferPointer({ stream.pull(into: $0) }) else { break }
                    if !buffer[..<(part.frames * 2)].allSatisfy({ $0 > -0.1 && $0 < 0.6 }) {
                        wrong.add(1, ordering: .relaxed)
                    }
                    pulled.add(part.frames, ordering: .relaxed)
                    if pull % 8 == 0 { stream.report(waiting: UInt32(pull * 100)) }
                    sched_yield()
                }
            }
        }
        together({ listen(44_100) }) { listen(48_000) }
        runner.stop()
        #expect(wrong.load(ordering: .relaxed) == 0 && pulled.load(ordering: .relaxed) > 0)
        #expect(streams.clients(of: "ears").isEmpty)
    }

    @Test("A node may end while clients send and pull") func ends() throws {
        for _ in 0..<stressed(40) {
            let streams = WebStreams()
            var input: Runner? = try Runner(streams.type("web-input"), "mic")
            var output: Runner? = try Runner(streams.type("web-output"), "ears")
            let microphone = try streams.openInput("mic", rate: 48_000, channels: 2, client: "me")
            let speakers = try streams.openOutput("ears", rate: 48_000, channels: 2, client: "me")
            together({
                while self.send(microphone, messages: 10) { _ = microphone.status }
                var buffer = [Float](repeating: 0, count: 512)
                while buffer.withUnsafeMutableBufferPointer({ speakers.pull(into: $0) }) != nil { sched_yield() }
            }) {
                input?.stop()
                input?.finish()
                // Without its last words too.
                input = nil
                output?.stop()
                output = nil
            }
            #expect(!microphone.isOpen && !speakers.isOpen)
        }
    }
}
