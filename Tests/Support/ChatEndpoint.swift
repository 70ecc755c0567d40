// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A real server on this machine that answers like a chat-completions endpoint, well or badly as the path says. It ends
/// with this object.
public final class ChatEndpoint {
    /// Where its files are.
    public let scratch: Scratch
    /// Where it listens, on this machine.
    public let port: Int
    private let process = Process()
    private let input = Pipe()
    private let isSecure: Bool

    /// Begins; with the name of a host it speaks TLS, with a certificate that it made for that name itself.
    public init(certificateFor name: String? = nil) throws {
        scratch = try Scratch()
        isSecure = name != nil
        var arguments = ["python3", packageRoot + "/Tests/Fixtures/agent/endpoint.py", scratch.path]
        if let name {
            let (certificate, key) = (scratch.file("certificate.pem"), scratch.file("key.pem"))
            try run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext",
                    "subjectAltName=DNS:\(name)", "-keyout", key, "-out", certificate,
                ])
            arguments += [certificate, key]
        }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        // A sanitizer loaded into the tests is not meant for other programs.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_PRELOAD" }
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != 10 {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            if byte.isEmpty { throw NeverHappened(description: "the endpoint does not start") }
            line += byte
        }
        port = Int(String(decoding: line.dropLast(), as: UTF8.self))!
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Where it behaves in one way.
    public func url(_ mode: String, host: String = "localhost") -> String {
        "\(isSecure ? "https" : "http")://\(host):\(port)/\(mode)/v1"
    }

    /// What it was asked so far, as lines of JSON.
    public var requests: [String] {
        let text = (try? String(contentsOfFile: scratch.file("requests"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}
