// SPDX-License-Identifier: Apache-2.0
import JSON
import System

/// Where a host is reached by HTTP, and the token that lets in.
struct WebLink {
    /// As "http://127.0.0.1:8765", without a slash at its end.
    let base: String
    private let token: String

    /// Reads an address, or a link as `voicegraph web` prints it. Throws if it is none, or no token is there.
    init(_ text: String, token: String?) throws(Fault) {
        guard let mark = text.firstRange(of: "://"), ["http", "https"].contains(text[..<mark.lowerBound].lowercased())
        else {
            throw Fault("'\(text.prefix(80))' is no address of HTTP", hint: "write http://HOST:PORT, or the link")
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var base = parts[0]
        while base.last == "/" { base.removeLast() }
        self.base = String(base)
        let pairs = parts.count > 1 ? parts[1].split(separator: "&") : []
        let told = pairs.first { $0.hasPrefix("token=") }?.dropFirst(6)
        guard let token = token ?? told.map(String.init), !token.isEmpty else {
            throw Fault("no token lets this program in", hint: "`voicegraph web` prints the link with it")
        }
        guard token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { throw Fault("that is no token") }
        self.token = token
    }

    /// Where a call is made.
    func call(_ name: String) -> String { "\(base)/api/\(name)" }

    /// What every request says.
    var headers: [(String, String)] { [("Authorization", "Bearer \(token)")] }

    /// What an answer says; throws if it is none of a host.
    func read(_ bytes: [UInt8], _ status: Int) throws(Fault) -> JSON {
        if let answer = try? JSON(bytes), answer["ok"] != nil { return answer }
        throw Fault(
            "\(base) answers \(status), which is nothing of a host",
            hint: status / 100 == 3 ? "it sends on to another address: give that" : "is it `voicegraph run --web`?")
    }

    /// Why nothing came.
    func unreached(_ reason: String) -> Fault {
        Fault("cannot reach \(base): \(reason)", hint: "is it `voicegraph run --web`?")
    }
}
