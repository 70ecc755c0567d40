// SPDX-License-Identifier: Apache-2.0

/// The shape of a change in time.
public enum Curve: Sendable, Hashable {
    /// Even.
    case linear
    /// Fast at first: the cubic Bézier (0, 0, 0.58, 1) of style sheets.
    case easeOut
    /// Slow at both ends: the cubic Bézier (0.42, 0, 0.58, 1).
    case easeInOut

    /// Progress 0...1 at the share `x` 0...1 of the duration.
    public func progress(_ x: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        switch self {
        case .linear: return x
        case .easeOut: return bezier(x, 0, 0.58)
        case .easeInOut: return bezier(x, 0.42, 0.58)
        }
    }
}

/// y at x of a Bézier curve from (0, 0) to (1, 1) whose control points are (x1, 0) and (x2, 1).
private func bezier(_ x: Double, _ x1: Double, _ x2: Double) -> Double {
    // x grows with the curve's own parameter, so that halving finds it; 40 halvings are exact to 1e-12.
    var low = 0.0
    var high = 1.0
    for _ in 0..<40 {
        let s = (low + high) / 2
        let here = 3 * (1 - s) * (1 - s) * s * x1 + 3 * (1 - s) * s * s * x2 + s * s * s
        if here < x { low = s } else { high = s }
    }
    let s = (low + high) / 2
    return 3 * (1 - s) * s * s + s * s * s
}

/// A number on its way to a target. A new target starts from wherever the number is at that moment.
public struct Ease: Sendable, Equatable {
    /// Where the current change began.
    public private(set) var origin: Double
    /// Where it goes.
    public private(set) var target: Double
    /// When it began, in seconds.
    public private(set) var start = 0.0
    /// How long it takes, in seconds.
    public private(set) var duration: Double
    /// How it goes.
    public private(set) var curve: Curve

    /// A number that rests at `value`.
    public init(_ value: Double = 0, duration: Double, curve: Curve) {
        origin = value
        target = value
        self.duration = duration
        self.curve = curve
    }

    /// What is measured of a steady sound differs by less; nobody sees it.
    private static let least = 1e-4

    /// Turns to a target; the same target again changes nothing, or each of a steady sound's would begin anew. NaN is ignored.
    public mutating func go(to value: Double, at time: Double, duration: Double? = nil, curve: Curve? = nil) {
        guard abs(value - target) >= Self.least else { return }
        origin = self.value(at: time)
        target = value
        start = time
        if let duration { self.duration = duration }
        if let curve { self.curve = curve }
    }

    /// The number at a time; before the start it is where the change began.
    public func value(at time: Double) -> Double {
        guard duration > 0 else { return target }
        let progress = curve.progress((time - start) / duration)
        return progress >= 1 ? target : origin + (target - origin) * progress
    }

    /// Whether the target is reached.
    public func isSettled(at time: Double) -> Bool { origin == target || time >= start + duration }
}

/// How long the changes of a visualizer take, in seconds.
public struct LevelTimes: Sendable, Hashable {
    /// Of the level: even.
    public var level = 0.05
    /// Of what the orb shows of it: fast at first.
    public var view = 0.15
    /// Of the change to speaking and back: slow at both ends.
    public var speaking = 0.6
    /// Of the end, when nothing sounds any more: even, of both.
    public var end = 0.25

    /// The usual ones.
    public init() {}
}

/// What moves a visualizer: the measured level, eased as the eye likes it.
public struct LevelEase: Sendable, Equatable {
    /// The level.
    public private(set) var level: Ease
    /// What the orb shows of it.
    public private(set) var view: Ease
    /// Whether something speaks, 0...1.
    public private(set) var flag: Ease
    private let times: LevelTimes

    /// At rest.
    public init(times: LevelTimes = LevelTimes()) {
        self.times = times
        level = Ease(duration: times.level, curve: .linear)
        view = Ease(duration: times.view, curve: .easeOut)
        flag = Ease(duration: times.speaking, curve: .easeInOut)
    }

    /// Takes a measured level; outside 0...1 it is clamped, NaN is ignored. Silence is the end.
    public mutating func set(level value: Float, at time: Double) {
        guard !value.isNaN else { return }
        let clamped = Double(min(max(value, 0), 1))
        if clamped == 0 { return fade(at: time) }
        level.go(to: clamped, at: time, duration: times.level, curve: .linear)
        view.go(to: clamped, at: time, duration: times.view, curve: .easeOut)
    }

    /// Begins or ends to glow.
    public mutating func set(speaking: Bool, at time: Double) { flag.go(to: speaking ? 1 : 0, at: time) }

    /// The end: the level fades out, and the flag over its own time.
    public mutating func end(at time: Double) {
        fade(at: time)
        set(speaking: false, at: time)
    }

    private mutating func fade(at time: Double) {
        level.go(to: 0, at: time, duration: times.end, curve: .linear)
        view.go(to: 0, at: time, duration: times.end, curve: .linear)
    }

    /// Whether nothing moves any more.
    public func isSettled(at time: Double) -> Bool {
        level.isSettled(at: time) && view.isSettled(at: time) && flag.isSettled(at: time)
    }
}
