// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What nobody means as a number of seconds or frames, and what is declared but large.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NumberTests {
    private static let numbers: [NSNumber] = [
        1e300, -1e300, 1e18, -1e18, NSNumber(value: Int64.max), NSNumber(value: Int64.min),
        NSNumber(value: UInt64(1) << 32), -1, 0, 0.5, 1e-300,
    ]

    private static func described() async throws -> [[String: Any]] {
        let list = try Program([Program.voicegraph, "nodes", "--json"])
        #expect(try await list.end() == 0)
        var all: [[String: Any]] = []
        for line in list.lines {
            let entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard entry["available"] as? Bool == true, let type = entry["type"] as? String else { continue }
            let description = try Program([Program.voicegraph, "describe", type, "--json"])
            #expect(try await description.end() == 0, "\(type): \(description.errors)")
            let text = Data(description.output.utf8)
            all.append(try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any]))
        }
        #expect(all.count > 30)
        return all
    }

    /// Settings and arguments of actions that are numbers.
    private static func numbers(_ declared: Any?) -> [[String: Any]] {
        (declared as? [[String: Any]] ?? []).filter { ["integer", "number"].contains($0["kind"] as? String) }
    }

    private static func line(_ call: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: call), as: UTF8.self)
    }

    @Test("Every number that a node takes has bounds, so that none overflows what is counted with it")
    func bounds() async throws {
        for type in try await Self.described() {
            let name = try #require(type["type"] as? String)
            let actions = type["actions"] as? [[String: Any]] ?? []
            for number in Self.numbers(type["settings"]) + actions.flatMap({ Self.numbers($0["arguments"]) }) {
                // Of a seed only the bits matter.
                guard let key = number["key"] as? String, key != "seed" else { continue }
                let least = try #require((number["minimum"] as? NSNumber)?.doubleValue, "\(name).\(key)")
                let most = try #require((number["maximum"] as? NSNumber)?.doubleValue, "\(name).\(key)")
                #expect(least > -1e15 && most <= 1e15, "\(name).\(key)")
            }
        }
    }

    @Test("No number in a setting, a parameter or an action ends a run") func noEnd() async throws {
        let run = try await Playing()
        let client = try run.client()
        let sound = SoundFile(rate: 48_000, samples: [Signal.sine(440, rate: 48_000, frames: 48_000)])
        let file = run.scratch.file("s.wav")
        try sound.write(file)
        let needed: [String: [String: Any]] = [
            "record": ["path": run.scratch.file("take.wav")], "file": ["path": file],
            "tts": ["engine": "command", "command": "cat > /dev/null; cat '\(file)'"],
            "transcribe": ["engine": "command", "command": "cat > /dev/null; echo hello"],
        ]
        var (calls, refused) = (0, 0)
        @discardableResult func call(_ what: [String: Any]) throws -> Bool {
            let text = try Self.line(what)
            calls += 1
            let answer = try client.call(text)
            guard answer["ok"] as? Bool != true else { return true }
            refused += 1
            return false
        }
        /// The ends of what is declared come too.
        func tried(_ number: [String: Any]) -> [NSNumber] {
            Self.numbers + [number["minimum"], number["maximum"]].compactMap { $0 as? NSNumber }
        }
        for type in try await Self.described() {
            guard let name = type["type"] as? String else { continue }
            let node = (needed[name] ?? [:]).merging(["name": "x", "type": name]) { one, _ in one }
            for setting in Self.numbers(type["settings"]) {
                guard let key = setting["key"] as? String else { continue }
                for number in tried(setting) {
                    if try call(["call": "add", "node": node.merging([key: number]) { _, new in new }]) {
                        try call(["call": "remove", "node": "x"])
                    }
                }
            }
            guard try call(["call": "add", "node": node]) else { continue }
            try call(["call": "link", "link": "tone -> x"])
            for parameter in type["parameters"] as? [[String: Any]] ?? [] {
                for number in tried(parameter) {
                    try call(["call": "set", "node": "x", "parameter": parameter["key"] ?? "", "value": number])
                }
            }
            let actions = type["actions"] as? [[String: Any]] ?? []
            func required(_ action: [String: Any]) -> [String: Any] {
                let arguments = action["arguments"] as? [[String: Any]] ?? []
                let needed = arguments.filter { $0["required"] as? Bool == true }
                return Dictionary(
                    uniqueKeysWithValues: needed.map {
                        ($0["key"] as? String ?? "", $0["kind"] as? String == "text" ? "hello" : 1 as Any)
                    })
            }
            func perform(_ action: [String: Any], _ given: [String: Any]) throws -> Bool {
                let arguments = required(action).merging(given) { _, new in new }
                return try call([
                    "call": "do", "node": "x", "action": action["name"] ?? "", "arguments": arguments, "patience": 1,
                ])
            }
            // Behind each of the others, since what a number does may depend on what the node is at.
            for action in actions {
                for argument in Self.numbers(action["arguments"]) {
                    for number in tried(argument) {
                        for before in actions {
                            _ = try perform(before, [:])
                            guard try perform(action, [argument["key"] as? String ?? "": number]) else { continue }
                            try call(["call": "levels", "seconds": 0.02])
                        }
                    }
                }
            }
            try call(["call": "remove", "node": "x"])
        }
        print("figure: \(calls) calls, \(refused) refused")
        #expect(calls > 1000 && refused > calls / 4)
        try await run.end()
    }
}
