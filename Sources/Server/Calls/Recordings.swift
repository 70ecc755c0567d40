// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Host
import NodeKit
import System

/// The recordings that a run has completed, of nodes with `keep` and of others, for as long as the run lasts.
public final class Recordings: Sendable {
    private struct Recording {
        var event: Event
        var path: String
    }

    /// So many of the newest can be drawn.
    private static let drawn = 200
    private let events: Subscription
    private let complete = Lock<[Recording]>([])

    /// Of what a host will play from now on. [any]
    public convenience init(of host: Host) {
        self.init(
            host.subscribe(.lossless) { published in
                guard case .event(let event) = published else { return false }
                return event.type?.role == .take(.whole)
            })
    }

    /// Of what is told there. [any]
    init(_ events: Subscription) { self.events = events }

    deinit { events.cancel() }

    /// Where the file of a recording lies, by its number; nil: there is none. [any]
    public func file(_ number: Int64) -> String? {
        let known = all
        return known.indices.contains(Int(clamping: number - 1)) ? known[Int(number - 1)].path : nil
    }

    /// What tells them.
    public var call: HostCall {
        HostCall(
            "recordings", "recordings that this run has completed", change: false, right: .operator,
            results: [
                Field(
                    "recordings", VG_LIST,
                    "number, node, path, utc and what else the node tells of each, such as seconds and loudness; whether it "
                        + "is kept, as the call takes tells, and whether its file exists; of the newest 200 the outline"
                )
            ]
        ) { [self] _, _ in
            [("recordings", .list(all.enumerated().map { Self.values($0.element, number: $0.offset + 1) }))]
        }
    }

    /// The first has the number 1.
    private var all: [Recording] {
        complete.withLock { complete in
            while case .event(let event)? = events.poll() {
                // Of one that failed, what there is of it may have another name.
                guard let path = event.text("place") ?? event.text("path") else { continue }
                complete.append(Recording(event: event, path: absolute(path)))
                // A run may make thousands: what is drawn of each would take more memory than all else of it.
                if complete.count > Self.drawn {
                    complete[complete.count - Self.drawn - 1].event.fields["outline"] = nil
                }
            }
            return complete
        }
    }

    private static func values(_ recording: Recording, number: Int) -> SettingValue {
        let event = recording.event
        var values = event.fields
        values["number"] = .integer(Int64(number))
        values["node"] = event.node.map { .string($0) }
        values["path"] = .string(recording.path)
        values["utc"] = .string(EventJSON.timestamp(event.wallTime))
        values["kept"] = .bool(event.keeping != nil)
        values["exists"] = .bool(access(recording.path, F_OK) == 0)
        return .table(values)
    }
}
