// SPDX-License-Identifier: Apache-2.0
import API
import GraphFile
import NIOHTTP1
import System

/// Who may ask for what: the Host and the Origin of every request, and the token where there is something to protect.
/// There are no cookies: a browser sends them to every port of a machine, whoever listens there.
struct Access: Sendable {
    let tokens: Tokens
    let isReadOnly: Bool
    private let isTrusted: Bool
    private let actions: [String]?
    private let granted: [String]
    /// What the header Host may say, in lower case.
    private let hosts: Set<String>
    /// Names without a port, which may stand with any.
    private let names: Set<String>
    /// Origins of pages of ours.
    private let own: Set<String>
    /// Origins that the user named.
    private let listed: Set<String>

    /// Why a request is refused.
    struct Refusal: Error, Equatable {
        var status: HTTPResponseStatus
        var fault: Fault

        init(_ status: HTTPResponseStatus, _ message: String, hint: String) {
            (self.status, fault) = (status, Fault(message, hint: hint))
        }
    }

    /// What is told who does not know the token.
    static let unknown = Refusal(
        .unauthorized, "this needs a token of the run",
        hint: "open the link that `voicegraph web` prints, or send Authorization: Bearer TOKEN")

    /// Whose page asks.
    enum Origin: Equatable {
        /// No page, or one of ours.
        case own
        /// One that the user named.
        case listed(String)
    }

    /// `addresses`: under which the machine is reached at this port.
    init(_ web: WebDescription, addresses: [String], port: Int, tokens: Tokens = Tokens()) {
        self.tokens = tokens
        isReadOnly = web.isReadOnly
        isTrusted = web.isTrusted
        actions = web.actions
        granted = web.visitors
        hosts = Set(
            addresses.flatMap { address -> [String] in
                let name = (address.contains(":") ? "[\(address)]" : address).lowercased()
                return port == 80 ? [name, "\(name):80"] : ["\(name):\(port)"]
            })
        names = Set(web.names.map { $0.lowercased() })
        own = Set(hosts.map { "http://\($0)" })
        listed = Set(web.origins.map { $0.lowercased() })
    }

    /// Under which name it is asked, and whose page asks.
    func check(_ headers: HTTPHeaders) throws(Refusal) -> Origin {
        let given = headers["host"]
        guard given.count == 1, let host = given.first?.lowercased(), !host.isEmpty else {
            throw Refusal(.badRequest, "a request has one header Host", hint: "send one")
        }
        guard isOurs(host) else {
            throw Refusal(
                .misdirectedRequest, "this is not '\(host.prefix(80))'",
                hint: "use the address that `voicegraph web` prints, or add the name to 'names' in [web]")
        }
        let origins = headers["origin"]
        guard let origin = origins.first?.lowercased() else {
            // A browser that tells nothing else tells whether another page has made it ask.
            if let site = headers.first(name: "sec-fetch-site"), site.hasSuffix("-site"), isAsked(by: headers) {
                throw refusedOrigin("another page")
            }
            return .own
        }
        guard origins.count == 1 else {
            throw Refusal(.badRequest, "a request has one header Origin", hint: "send one")
        }
        if own.contains(origin) || isNamed(origin, host) { return .own }
        if listed.contains(origin) { return .listed(origin) }
        throw refusedOrigin("'\(origin.prefix(80))'")
    }

    /// Who asks; nil: whoever it is knows no token.
    func caller(_ headers: HTTPHeaders) -> Caller? {
        let bearer = headers["authorization"]
        var right: Right?
        if bearer.count == 1, let text = bearer.first, text.lowercased().hasPrefix("bearer ") {
            right = tokens.right(of: text.dropFirst(7))
        }
        for offer in headers[canonicalForm: "sec-websocket-protocol"] where right == nil && offer.hasPrefix("token.") {
            right = tokens.right(of: offer.dropFirst(6))
        }
        return right.map { Caller($0, trusted: isTrusted, actions: actions, granted: granted) }
    }

    /// A page may load what is no secret: scripts that it names.
    private func isAsked(by headers: HTTPHeaders) -> Bool {
        headers.first(name: "sec-fetch-mode") != "navigate"
    }

    private func refusedOrigin(_ who: String) -> Refusal {
        Refusal(
            .forbidden, "\(who) may not ask this server",
            hint: "add its origin to 'origins' in [web], as https://example.org")
    }

    private func isOurs(_ host: String) -> Bool { hosts.contains(host) || names.contains(Self.name(host)) }

    private func isNamed(_ origin: String, _ host: String) -> Bool {
        names.contains(Self.name(host)) && (origin == "https://\(host)" || origin == "http://\(host)")
    }

    /// A host without its port.
    private static func name(_ host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return String(host[..<colon])
    }
}
