// SPDX-License-Identifier: Apache-2.0
import CNode

/// What a node is for people; what each role asks for stands in values.h.
public enum Role: String, Sendable, CaseIterable {
    /// It says texts.
    case speaks
    /// It makes text of what is said.
    case transcribes
    /// It answers.
    case converses
    /// It makes recordings.
    case records
    /// It says how it wants to be drawn.
    case shows

    /// The actions without which a type has not this role.
    public var actions: [String] {
        switch self {
        case .speaks: [VG_ACTION_SPEAK]
        case .transcribes: [VG_ACTION_START, VG_ACTION_STOP, VG_ACTION_TOGGLE]
        case .converses: [VG_ACTION_SEND]
        case .records: [VG_ACTION_START, VG_ACTION_PAUSE, VG_ACTION_RESUME, VG_ACTION_FINISH]
        case .shows: []
        }
    }

    /// The fields of the retained event that tells how such a node stands.
    public var state: [String] {
        switch self {
        case .speaks: ["speaking", "paused"]
        case .transcribes, .records: ["state"]
        case .converses: ["state", "label"]
        case .shows: ["style"]
        }
    }

    /// The event that tells how a node stands in this role; nil: it declares none.
    public func state(among events: [EventType]) -> EventType? {
        events.first { event in
            event.isRetained && state.allSatisfy { field in event.fields.contains { $0.name == field } }
        }
    }

    /// The roles of who declares these. [any]
    public static func of(actions: [Action], events: [EventType]) -> [Role] {
        allCases.filter { role in
            let found = role.actions.compactMap { name in actions.first { $0.name == name } }
            guard found.count == role.actions.count else { return false }
            return switch role {
            case .speaks, .records: true
            case .transcribes: events.contains { if case .text = $0.role { true } else { false } }
            case .converses: found[0].arguments.first?.key == "text"
            case .shows: role.state(among: events) != nil
            }
        }
    }
}
