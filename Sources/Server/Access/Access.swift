// SPDX-License-Identifier: Apache-2.0
import Graph
import NIOHTTP1

/// Who may ask for what: the Host and the Origin of every request, and the token where there is something to protect.
struct Access: Sendable {
    let token: Token
    /// The cookie's name: cookies are the same for all ports of a machine.
    let cookie: String
    let isReadOnly: Bool
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
        var message: String
        var hint: String
    }

    /// What is told who does not know the token.
    static let unknown = Refusal(
        status: .unauthorized, message: "this needs the token of the run",
        hint: "open the link that `voicegraph web` prints, or send Authorization: Bearer TOKEN")

    /// Whose page asks.
    enum Origin: Equatable {
        /// No page, or one of ours.
        case own
        /// One that the user named.
        case listed(String)
    }

    /// `addresses`: under which the machine is reached at this port.
    init(_ web: WebDescription, addresses: [String], port: Int, token: Token = Token()) {
        self.token = token
        cookie = "voicegraph-\(port)"
        isReadOnly = web.isReadOnly
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
            throw Refusal(status: .badRequest, message: "a request has one header Host", hint: "send one")
        }
        guard isOurs(host) else {
            throw Refusal(
                status: .misdirectedRequest, message: "this is not '\(host.prefix(80))'",
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
            throw Refusal(status: .badRequest, message: "a request has one header Origin", hint: "send one")
        }
        if own.contains(origin) || isNamed(origin, host) { return .own }
        if listed.contains(origin) { return .listed(origin) }
        throw refusedOrigin("'\(origin.prefix(80))'")
    }

    /// Whether it knows the token; a cookie counts for our own pages alone.
    func isKnown(_ headers: HTTPHeaders, _ origin: Origin) -> Bool {
        let bearer = headers["authorization"]
        if bearer.count == 1, let text = bearer.first, text.lowercased().hasPrefix("bearer "),
            token.matches(text.dropFirst(7))
        {
            return true
        }
        for offer in headers[canonicalForm: "sec-websocket-protocol"]
        where offer.hasPrefix("token.") && token.matches(offer.dropFirst(6)) {
            return true
        }
        guard origin == .own else { return false }
        return headers["cookie"].contains { line in
            line.split(separator: ";").contains { part in
                let pair = part.split(separator: "=", maxSplits: 1)
                return pair.count == 2 && pair[0].drop { $0 == " " } == cookie && token.matches(pair[1])
            }
        }
    }

    /// The cookie that a first link sets; over TLS, which a proxy tells, no other way may have it.
    func setCookie(_ headers: HTTPHeaders) -> String {
        let isSecure = headers.first(name: "x-forwarded-proto") == "https"
        return "\(cookie)=\(token.text); HttpOnly; SameSite=Strict; Path=/" + (isSecure ? "; Secure" : "")
    }

    /// A page may load what is no secret: scripts that it names.
    private func isAsked(by headers: HTTPHeaders) -> Bool {
        headers.first(name: "sec-fetch-mode") != "navigate"
    }

    private func refusedOrigin(_ who: String) -> Refusal {
        Refusal(
            status: .forbidden, message: "\(who) may not ask this server",
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
