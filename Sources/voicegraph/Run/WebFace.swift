// SPDX-License-Identifier: Apache-2.0
import API
import Archive
import ArgumentParser
import Glibc
import GraphFile
import Host
import NodeKit
import Server
import System

/// How a run is shown to browsers.
struct WebOptions: ParsableArguments {
    @Option(
        name: .customLong("web"), defaultAsFlag: WebDescription.standardListen,
        help: ArgumentHelp("Show the graph to browsers, at HOST:PORT or PORT.", valueName: "address"))
    var listen: String?

    @Flag(
        name: .customLong("web-remote"),
        help: "Let --web listen where other machines reach it; nothing is encrypted without a proxy.")
    var remote = false

    @Flag(name: .customLong("web-read-only"), help: "Let browsers look and change nothing.")
    var readOnly = false

    /// What the file says, and the command line on top; nil: browsers see nothing.
    func description(over file: WebDescription?) -> WebDescription? {
        guard listen != nil || file != nil else { return nil }
        var web = file ?? WebDescription()
        web.listen = listen ?? web.listen
        web.allowsRemote = web.allowsRemote || remote
        web.isReadOnly = web.isReadOnly || readOnly
        return web
    }
}

/// The server of a run, and the call by which other programs of the user find it.
struct WebFace {
    private let server: WebServer?
    /// What the control socket answers beside what every host does.
    let calls: CallTable

    /// Listens, if that is wanted.
    init(_ host: Host, _ web: WebDescription?, _ feed: EventFeed, folder: String) throws(Fault) {
        let recordings = Recordings(of: host)
        let kept = ArchiveCalls.table() + [recordings.call]
        guard var web else {
            (server, calls) = (nil, CallTable(kept + [Self.call(nil)]))
            return
        }
        let base = absolute(folder.isEmpty ? "." : folder)
        web.tokens = web.tokens.map { absolute($0, from: base) }
        web.logo = web.logo.map { absolute($0, from: base) }
        var files = KeptFiles()
        files.take = { take throws(Fault) in try ArchiveCalls.file(of: take) }
        files.recording = { recordings.file($0) }
        files.transcript = { session, format throws(Fault) in try Self.transcript(session, format) }
        let server = try WebServer(host, web, calls: kept, feed: feed, kept: files)
        self.server = server
        calls = CallTable(kept + [Self.call(server)])
    }

    /// Says where it is.
    func tell(_ host: Host) {
        guard let server else { return }
        host.tell(
            HostEvent.web,
            [
                "url": .string(server.url), "link": .string(server.link(.owner)), "links": .table(Self.links(server)),
                "remote": .bool(server.isRemote),
            ])
    }

    /// Ends all connections.
    func close() { server?.close() }

    /// What `voicegraph transcripts export` writes of a session, and a name for it. [worker]
    private static func transcript(
        _ id: Int64, _ format: String
    ) throws(Fault) -> (name: String, text: String)? {
        guard let format = ExportFormat(rawValue: format) else { return nil }
        do throws(ArchiveError) {
            guard let archive = try Archive.open(),
                let session = try archive.sessions(of: .item).first(where: { $0.id == id })
            else { return nil }
            let began = localTime(session.start).replacing(" ", with: "_").replacing(":", with: "-")
            return (
                "\(session.graph)-\(began).\(format == .json ? "jsonl" : format.rawValue)",
                format.text([(session, try archive.items(ArchiveFilter(sessions: [id])))])
            )
        } catch { throw error.fault }
    }

    private static func call(_ server: WebServer?) -> HostCall {
        HostCall(
            "web", "where browsers see the graph", change: false, right: .owner,
            results: [
                Field("url", VG_STRING, "where"),
                Field("link", VG_STRING, "the same with the owner's token, which lets whoever has it in"),
                Field("links", VG_TABLE, "such a link for each right: visitor, operator, owner"),
            ]
        ) { _, _ in
            guard let server else {
                throw Fault("this run is not shown to browsers", hint: "start it with --web, or with [web] in its file")
            }
            return [
                ("url", .string(server.url)), ("link", .string(server.link(.owner))), ("links", .table(links(server))),
            ]
        }
    }

    private static func links(_ server: WebServer) -> [String: SettingValue] {
        Dictionary(uniqueKeysWithValues: Right.allCases.map { ($0.rawValue, .string(server.link($0))) })
    }
}
