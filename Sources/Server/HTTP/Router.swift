// SPDX-License-Identifier: Apache-2.0
import API
import Host
import JSON
import NIOCore
import NIOHTTP1
import NodeKit
import System

/// What is behind which path.
final class Router: Sendable {
    let access: Access
    private let host: Host
    private let calls: CallTable
    let kept: KeptFiles
    private let logo: Response?
    private let description: String
    private let places = CallPlaces()

    /// A request that was read to its end.
    struct HTTPRequest: Sendable {
        var head: HTTPRequestHead
        var target: Target
        var origin: Access.Origin
        /// Who asks; nil: somebody who knows no token.
        var caller: Caller?
        /// Whose bounds it has.
        var party: Party
        var body: [UInt8]
    }

    enum Answer {
        case now(Response)
        /// What only looks can be cancelled.
        case later(Task<Response, Never>, isLook: Bool)
        /// What happens from now on, to somebody who asked for this of it.
        case events(Caller, [String: SettingValue])
    }

    init(_ host: Host, _ calls: CallTable, _ access: Access, kept: KeptFiles, logo: Response? = nil) {
        (self.host, self.calls, self.access, self.kept, self.logo) = (host, calls, access, kept, logo)
        description = OpenAPI.description(calls, isReadOnly: access.isReadOnly)
    }

    /// What a request is answered with, at once or after some work. [loop]
    func route(_ request: HTTPRequest) -> Answer {
        let path = request.target.path
        if request.head.method == .OPTIONS { return .now(preflight(request)) }
        if path.hasPrefix("/api/") {
            let name = String(path.dropFirst(5))
            if let download = Download(name), let ticket = request.target["ticket"],
                access.tokens.download.matches(ticket)
            {
                return answer(request, download)
            }
            guard let caller = request.caller else { return .now(Response(Access.unknown)) }
            return routeCall(request, name, caller)
        }
        guard [.GET, .HEAD].contains(request.head.method) else { return .now(Self.notAllowed("GET, HEAD")) }
        if path == "/", let token = request.target["token"], access.tokens.right(of: token) == nil {
            return .now(Self.otherRun)
        }
        if path == "/logo", let logo { return .now(logo) }
        return .now(
            PageFiles.response(path, accepting: request.head.headers[canonicalForm: "accept-encoding"])
                ?? Response(.notFound, Fault("there is nothing at \(path.prefix(80))", hint: "the page is at /")))
    }

    /// What a link with a wrong token leads to. The page takes a right one out of what the browser remembers.
    private static let otherRun = Response(
        .forbidden, "text/plain; charset=utf-8",
        "This link is of another run. `voicegraph web` prints the one of this run.\n")

    /// What a browser asks before a page elsewhere may ask.
    private func preflight(_ request: HTTPRequest) -> Response {
        var response = Response(.noContent, "text/plain", "")
        if case .listed = request.origin {
            response.headers.add(name: "Access-Control-Allow-Methods", value: "GET, HEAD, POST")
            response.headers.add(name: "Access-Control-Allow-Headers", value: "authorization, content-type, range")
            response.headers.add(name: "Access-Control-Max-Age", value: "600")
        } else {
            response.headers.add(name: "Allow", value: "GET, HEAD, POST, OPTIONS")
        }
        return response
    }

    static func notAllowed(_ methods: String) -> Response {
        var response = Response(
            .methodNotAllowed, Fault("this method is not for this path", hint: "here: \(methods)"))
        response.headers.add(name: "Allow", value: methods)
        return response
    }

    // MARK: /api

    private func routeCall(_ request: HTTPRequest, _ name: String, _ caller: Caller) -> Answer {
        let isReading = [.GET, .HEAD].contains(request.head.method)
        if name == "openapi.json" {
            return .now(isReading ? Response(json: description) : Self.notAllowed("GET, HEAD"))
        }
        if name == "live" {
            return .now(
                Response(.upgradeRequired, Fault("this is a WebSocket", hint: "ask for one; or too many are open")))
        }
        if name == HostCall.events.name {
            guard request.head.method == .GET else { return .now(Self.notAllowed("GET")) }
            do throws(Access.Refusal) {
                return .events(caller, try Self.arguments(of: request.target, HostCall.events.arguments, name))
            } catch { return .now(Response(error)) }
        }
        if let download = Download(name) {
            guard caller.right >= .operator else {
                return .now(Response(.forbidden, Fault(missing: .operator, caller)))
            }
            return answer(request, download)
        }
        let call: HostCall
        do throws(Fault) { call = try calls.named(name) } catch { return .now(Response(.notFound, error)) }
        guard caller.right >= call.right else {
            return .now(Response(.forbidden, Fault(missing: call.right, caller)))
        }
        let arguments: [String: SettingValue]
        do throws(Access.Refusal) {
            if call.isChange {
                guard request.head.method == .POST else { return .now(Self.notAllowed("POST")) }
                guard !access.isReadOnly else { return .now(Response(.forbidden, readOnlyError)) }
                arguments = try Self.arguments(of: request.body, request.head.headers)
            } else {
                guard isReading else { return .now(Self.notAllowed("GET, HEAD")) }
                arguments = try Self.arguments(of: request.target, call.arguments, call.usage)
            }
        } catch { return .now(Response(error)) }
        return begin(call, arguments, caller, request.party)
    }

    /// Begins a call, if there is a place for it.
    private func begin(
        _ call: HostCall, _ arguments: [String: SettingValue], _ caller: Caller, _ party: Party
    ) -> Answer {
        guard let place = places.begin(party) else {
            return .now(Self.tooMany("too many calls", "wait a moment"))
        }
        let work = Task { [host, places] in
            defer { places.end(place) }
            do throws(CallError) {
                let results = try await call(host, arguments, by: caller)
                if Task.isCancelled { return Self.tooMany("others had to be answered before", "ask again") }
                return Response(json: JSONText.object([("ok", "true")] + results.json))
            } catch {
                return Task.isCancelled
                    ? Self.tooMany("others had to be answered before", "ask again")
                    : Response(.badRequest, error.fault, error.diagnostics)
            }
        }
        guard !call.isChange else { return .later(work, isLook: false) }
        places.look(place) { work.cancel() }
        return .later(work, isLook: true)
    }

    static func tooMany(_ message: String, _ hint: String) -> Response {
        var response = Response(.tooManyRequests, Fault(message, hint: hint))
        response.headers.add(name: "Retry-After", value: "1")
        return response
    }

    private func answer(_ request: HTTPRequest, _ download: Download) -> Answer {
        guard [.GET, .HEAD].contains(request.head.method) else { return .now(Self.notAllowed("GET, HEAD")) }
        return answer(download, range: request.head.headers.first(name: "range"))
    }

    /// What a body says: an object, or nothing.
    private static func arguments(
        of body: [UInt8], _ headers: HTTPHeaders
    ) throws(Access.Refusal) -> [String: SettingValue] {
        guard !body.isEmpty else { return [:] }
        // Any page may send text or a form without being asked; this type only after a preflight.
        let type = headers.first(name: "content-type")?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw Access.Refusal(
                .unsupportedMediaType, "the body must be JSON",
                hint: "send Content-Type: application/json")
        }
        var request = Request()
        do throws(Fault) {
            try request.read(arguments: body)
            return try request.arguments()
        } catch {
            throw Access.Refusal(.badRequest, error.message, hint: "send an object with the arguments")
        }
    }

    /// What a query says: each value as its argument takes it.
    private static func arguments(
        of target: Target, _ declared: [Setting], _ hint: String
    ) throws(Access.Refusal) -> [String: SettingValue] {
        var arguments: [String: SettingValue] = [:]
        for (key, text) in target.query {
            guard arguments[key] == nil else {
                throw Access.Refusal(
                    .badRequest, "'\(key.prefix(60))' stands twice", hint: hint)
            }
            let kind = declared.first { $0.key == key }?.kind
            let value = kind == VG_SET_STRING ? nil : (try? JSON(text.utf8))?.setting
            arguments[key] =
                value
                ?? (kind == VG_SET_STRINGS
                    ? .list(text.split(separator: ",").map { .string(String($0)) }) : .string(text))
        }
        return arguments
    }
}

/// What whoever may only look is told who wants to change something.
let readOnlyError = Fault("this server may only be looked at", hint: "read_only = false in [web] lets changes through")
