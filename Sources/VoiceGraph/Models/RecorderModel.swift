// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// A recorder of a graph for views: what it does, for how long, and how loud it was.
///
///     let recorder = RecorderModel(host)
///     let audio = try await recorder.start(path: "memo.flac")
///     // a view reads recorder.state, recorder.seconds and recorder.levels
///     let memo = try await recorder.finish()
@MainActor @Observable public final class RecorderModel {
    /// What it does.
    public enum State: String, Sendable {
        /// Nothing was recorded yet, or what was is thrown away.
        case idle
        /// It records.
        case recording
        /// It was paused, and waits to be resumed.
        case paused
        /// No audio comes: it goes on by itself when some does.
        case interrupted
        /// The file is complete.
        case finished
        /// The disk refused it.
        case failed
    }

    /// A recording that is complete.
    public struct Recording: Sendable, Equatable {
        /// Its file.
        public var path: String
        /// How long it is, pauses left out.
        public var seconds: Double
        /// Frames written.
        public var frames: Int
        /// Frames lost to dropouts and a slow disk.
        public var dropped: Int
    }

    /// What it does.
    public private(set) var state = State.idle
    /// Recorded so far, pauses left out; it stands while it is paused.
    public private(set) var seconds = 0.0
    /// The newest levels, a tenth of a second each, in dBFS, oldest first: 100 at most.
    public private(set) var levels: [Double] = []
    /// The recording that ended last; nil: none did.
    public private(set) var last: Recording?
    /// Why the last one failed; nil: it did not.
    public private(set) var failure: String?

    private let host: any GraphHost
    private let chosen: String?
    @ObservationIgnored private var reader: HostReader?

    /// Follows the node `recorder`, by default the only one that records. The graph may be loaded later.
    public init(_ host: any GraphHost, recorder: String? = nil) {
        self.host = host
        chosen = recorder
        reader = HostReader(host) { published in
            guard case .event(let event) = published, event.node != nil, recorder == nil || event.node == recorder
            else {
                return false
            }
            if case .take = event.type?.role { return true }
            return event.isRetained && (Self.state(event) != nil || Self.levels(event) != nil)
        } take: { [weak self] published in
            if case .event(let event) = published { self?.take(event) }
            return self != nil
        }
    }

    /// Begins a recording: into `path`, or the file that the graph names; it ends by itself after `limit` seconds of it. Throws
    /// while one is under way. The audio is what the file gets, where the node says `publish`, and ends with the recording.
    @discardableResult
    public func start(path: String? = nil, limit: Double? = nil) async throws -> AudioFrames {
        let node = try await recorder()
        var arguments: [String: SettingValue] = [:]
        arguments["path"] = path.map { .string($0) }
        arguments["limit"] = limit.map { .number($0) }
        let audio = AudioFrames(
            host.subscribe(
                .bounded(4096), series: [],
                where: { if case .audio(let audio) = $0 { audio.node == node } else { false } },
                until: { if case .event(let event) = $0 { event.node == node && Self.isEnd(event) } else { false } }))
        _ = try await host.perform(VG_ACTION_START, on: node, arguments)
        failure = nil
        return audio
    }

    /// Leaves out what comes, until `resume`.
    public func pause() async throws { _ = try await host.perform(VG_ACTION_PAUSE, on: try await recorder()) }

    /// Goes on after a pause.
    public func resume() async throws { _ = try await host.perform(VG_ACTION_RESUME, on: try await recorder()) }

    /// Completes the file.
    @discardableResult
    public func finish() async throws -> Recording {
        let results = try await host.perform(VG_ACTION_FINISH, on: try await recorder())
        let recording = Recording(Settings(results))
        last = recording
        return recording
    }

    /// Throws away what there is, and the file.
    public func discard() async throws { _ = try await host.perform("discard", on: try await recorder()) }

    /// Lets the recording end after so many seconds of it, pauses left out; nil: never.
    public func limit(_ seconds: Double?) async throws {
        _ = try await host.perform("limit", on: try await recorder(), seconds.map { ["seconds": .number($0)] } ?? [:])
    }

    private func recorder() async throws(Fault) -> String {
        try await host.only(.records, chosen: chosen, does: "records")
    }

    private nonisolated static func state(_ event: Event) -> State? {
        let told = Set(event.type?.fields.map(\.name) ?? [])
        guard told.isSuperset(of: Role.records.state + ["seconds"]) else { return nil }
        return event.text("state").flatMap(State.init)
    }

    private nonisolated static func levels(_ event: Event) -> [Double]? {
        guard case .list(let values)? = event.fields["values"], event.fields["seconds"] != nil else { return nil }
        return values.compactMap { Settings(["value": $0]).number("value") }
    }

    private nonisolated static func isEnd(_ event: Event) -> Bool {
        if case .take(let stage)? = event.type?.role { stage != .partial } else { false }
    }

    private func take(_ event: Event) {
        let fields = Settings(event.fields)
        if case .take(let stage)? = event.type?.role {
            if event.type?.kind == .failure { failure = event.text("reason") }
            switch stage {
            case .partial: (seconds, levels) = (0, [])
            case .whole where event.type?.kind != .failure:
                last = Recording(fields)
                seconds = last?.seconds ?? seconds
            default: break
            }
        } else if let levels = Self.levels(event) {
            self.levels = levels
            // Those that were on their way when it was paused tell less than the pause.
            if state != .paused, state != .interrupted { seconds = fields.number("seconds") ?? seconds }
        } else if let state = Self.state(event) {
            self.state = state
            seconds = fields.number("seconds") ?? seconds
        }
    }
}

extension RecorderModel.Recording {
    fileprivate init(_ fields: Settings) {
        path = fields.string("path") ?? ""
        seconds = fields.number("seconds") ?? 0
        frames = fields.integer("frames") ?? 0
        dropped = fields.integer("dropped") ?? 0
    }
}
