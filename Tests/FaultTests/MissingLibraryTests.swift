// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Examples on a machine that lacks a library: each plays, or says what is missing and what installs it. None is open that has
/// a gate, none runs without hearing.
@Suite(.timeLimit(.minutes(5))) struct MissingLibraryTests {
    /// Runs an example and checks it, without a library; what both wrote to standard error, if both refused it.
    private func refusal(_ example: String, without library: String) async throws -> String? {
        let scratch = try Scratch()
        let preload = try await compile("preload/missing-library", in: scratch, as: "missing-library.so")
        let environment = [
            "LD_PRELOAD": preload, "MISSING_LIBRARY": library, "XDG_DATA_HOME": scratch.path,
            "XDG_RUNTIME_DIR": scratch.path, "VOICEGRAPH_RECORDINGS": scratch.path,
        ]
        let file = packageRoot + "/config/" + example
        let check = try Program([Program.voicegraph, "check", file], environment: environment)
        let run = try Program(
            [Program.voicegraph, "run", file, "--driver", "dummy", "--duration", "0.2"], environment: environment)
        let codes = (try await check.end(), try await run.end())
        #expect(codes.0 == codes.1, "\(run.errors)")
        guard codes.1 == 1 else { return nil }
        let told = check.output + check.errors
        #expect(told.contains("cannot be created: cannot load "), "\(told)")
        return run.errors
    }

    @Test(
        "Without PocketSphinx what listens for a name or for words is refused, with the packages",
        arguments: [
            ("wake-word.conf", "'wake.closed -> vad.mute' needs it"), ("assistant.conf", "'text -> agent' needs it"),
            ("push-to-talk.conf", "'text -> agent' needs it"), ("dictation.conf", "'mic -> text' needs it"),
        ])
    func deaf(_ example: String, _ link: String) async throws {
        // The one that PocketSphinx is built on, which is loaded first.
        let errors = try #require(try await refusal(example, without: "sphinxbase"))
        #expect(
            errors.contains(link) && errors.contains("apt install libpocketsphinx3 pocketsphinx-en-us"), "\(errors)")
    }

    @Test(
        "Without espeak-ng flite speaks, and without both what speaks is refused, with the package",
        arguments: ["demo.conf", "announce.conf"])
    func mute(_ example: String) async throws {
        #expect(try await refusal(example, without: "espeak-ng") == nil)
        let errors = try #require(try await refusal(example, without: "espeak-ng:flite"))
        #expect(errors.contains("' needs it") && errors.contains("apt install libespeak-ng1"), "\(errors)")
    }

    @Test("Examples that do not hear words play without PocketSphinx", arguments: ["echo-cancel.conf", "voices.conf"])
    func others(_ example: String) async throws {
        #expect(try await refusal(example, without: "sphinxbase") == nil)
    }
}
