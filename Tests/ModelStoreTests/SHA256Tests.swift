// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import ModelStore

@Suite("SHA-256") struct SHA256Tests {
    private func sum(_ bytes: [UInt8], pieces: Int) -> String {
        var hash = SHA256()
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            bytes[start..<min(bytes.count, start + pieces)].withUnsafeBytes { hash.update($0) }
        }
        return hash.finish()
    }

    /// From the standard's examples, and one of two blocks of padding.
    @Test(
        "The examples of FIPS 180-4 have the sums that it gives, in pieces of any size",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func examples(text: String, expected: String) {
        let bytes = Array(text.utf8)
        for pieces in [1, 7, 63, 64, 65, 1000, 1_000_000] { #expect(sum(bytes, pieces: pieces) == expected) }
    }

    @Test("A file's sum is that of sha256sum, at every length around a block")
    func files() async throws {
        let scratch = try Scratch()
        let lengths = [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 300_001]
        for length in lengths {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 + length) }
            try Data(bytes).write(to: URL(filePath: scratch.file("\(length)")))
        }
        let result = try await runTool(["sha256sum"] + lengths.map { scratch.file("\($0)") })
        let sums = result.output.split(separator: "\n").map { String($0.prefix(64)) }
        #expect(sums == lengths.map { fileSHA256(scratch.file("\($0)")) })
    }

    @Test("A file that is not there has no sum")
    func missing() { #expect(fileSHA256("/nowhere/at/all") == nil) }
}
