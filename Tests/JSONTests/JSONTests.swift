// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import JSON

/// The reader of what clients send, beside Foundation's.
@Suite struct JSONTests {
    @Test(
        "What others write is read, and written back",
        arguments: [
            "null", "true", "-0", "0.5e-3", "1.25E+1", "\"a\\u00e9\\n\\ud83d\\ude00/\\/\"", "[]", "{}",
            " [1 , 2,{\"a\":[ ]}]\r\n",
            "1.0", "-0.0", "1e16", "5e-324", "{\"a\":{\"b\":null},\"c\":\"\"}", "9223372036854775807",
            "9223372036854775808", "\"Grüße \u{1F3B5}\"",
        ])
    func roundTrip(_ text: String) throws {
        let value = try JSON(text.utf8)
        #expect(try JSON(value.text.utf8) == value)
        func parsed(_ text: String) throws -> NSObject? {
            try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? NSObject
        }
        #expect(try parsed(value.text) == parsed(text))
    }

    @Test(
        "What is wrong is told with its place",
        arguments: [
            ("", "ends too early", 0), ("  ", "ends too early", 2), ("{\"a\":", "ends too early", 5),
            ("[1,", "ends too early", 3), ("[1 2]", "',' or ']'", 3), ("{\"a\" 1}", "':' is missing", 5),
            ("{a:1}", "a key in quotes", 1), ("{\"a\":1,}", "a key in quotes", 7), ("[1,]", "no value", 3),
            ("nul", "no value", 0), ("'a'", "no value", 0), ("\"abc", "does not end", 0),
            ("\"\\x\"", "no such escape", 2),
            ("\"\\u12\"", "four hexadecimal", 3), ("\"\\ud800\"", "half of a character", 7),
            ("\"\\u0000\"", "NUL", 7), ("\"a\u{1}\"", "control character", 2), ("\"a\0\"", "control character", 2),
            ("01", "begins with 0", 0), ("1.", "a digit", 2), ("-", "a digit", 1), ("1e", "a digit", 2),
            ("+1", "no value", 0),
            ("1e999", "too large", 0), ("NaN", "no value", 0), ("1 2", "after the end", 2),
            ("{} x", "after the end", 3),
            ("{\"a\":1,\"a\":2}", "twice", 7), ("// c\n1", "no value", 0), ("\u{FEFF}1", "no value", 0),
        ])
    func mistakes(_ text: String, _ message: String, _ offset: Int) {
        let fault = #expect(throws: JSON.Fault.self) { try JSON(text.utf8) }
        #expect(fault?.message.contains(message) == true, "\(String(describing: fault))")
        #expect(fault?.offset == offset)
    }

    @Test("Broken UTF-8 is refused") func brokenUTF8() {
        for bytes: [UInt8] in [[34, 0xFF, 34], [34, 0xC0, 0x80, 34], [34, 0xED, 0xA0, 0x80, 34], [34, 0xE2, 0x82]] {
            #expect(throws: JSON.Fault(message: "this is not UTF-8", offset: 0)) { try JSON(bytes) }
        }
    }

    @Test("Depth has a limit") func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSON(nested(JSON.depthLimit).utf8)
        for text in [nested(JSON.depthLimit + 1), nested(100_000), String(repeating: "{\"a\":", count: 100_000)] {
            let fault = #expect(throws: JSON.Fault.self) { try JSON(text.utf8) }
            #expect(fault?.message == "it is nested more than 32 deep")
        }
    }

    @Test("Every prefix of a call is refused") func prefixes() throws {
        let call = Array("{\"id\":1,\"call\":\"set\",\"node\":\"gä\\u0061in\",\"value\":[-6.5e1,true,null]}".utf8)
        _ = try JSON(call)
        for length in call.indices { #expect(throws: JSON.Fault.self) { try JSON(call[..<length]) } }
    }
}
