// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// How the needle of a meter moves, for one rate: what the standards ask of it, as a filter of the rectified samples. Plain
/// data; the state of each channel is apart.
///
/// A steady sine shows its amplitude on each of them: 1 at full scale.
public struct Needle: BitwiseCopyable, Sendable {
    /// The standards' meters.
    public enum Kind: String, Sendable, CaseIterable {
        /// The volume unit meter of IEC 60268-17: 99 % of a steady tone after 300 ms, 1 to 1.5 % beyond it.
        case vu
        /// The peak programme meter type I of IEC 60268-10 (DIN 45406): 5 ms, falls 20 dB in 1.7 s.
        case ppm1
        /// The peak programme meter type II of IEC 60268-10 (BBC, EBU): 10 ms, falls 24 dB in 2.8 s.
        case ppm2
        /// The averaging meters of R. Katz, "An Integrated Approach to Metering, Monitoring, and Levelling Practices"
        /// (JAES 48, 2000), with 12, 14 or 20 dB above 0: the root mean square, 99 % after 600 ms.
        case k12, k14, k20

        /// The peak of a sine that shows 0, in dBFS, where nobody says another: EBU R 68, or the paper's.
        public var reference: Double {
            switch self {
            case .vu, .ppm1, .ppm2: -18
            case .k12: -12
            case .k14: -14
            case .k20: -20
            }
        }

        fileprivate var movement: Movement {
            switch self {
            case .vu: .swings
            case .ppm1, .ppm2: .charges
            case .k12, .k14, .k20: .averages
            }
        }
    }

    fileprivate enum Movement: BitwiseCopyable { case swings, charges, averages }

    /// What moves, of one channel.
    public struct State: BitwiseCopyable, Sendable {
        /// Position and speed, or the charges of both capacitors, or the mean square alone.
        fileprivate var first = 0.0
        fileprivate var second = 0.0
        /// The most that was shown since it was taken.
        fileprivate var most = 0.0

        /// At rest.
        public init() {}
    }

    private let movement: Movement
    // Of position and speed, a frame later.
    private let a11, a12, a21, a22: Double
    // Of the capacitors: what part of the way each goes in a frame, what is left after one, and the weight of the first.
    private let slowStep, fastStep, left, weight: Double
    // What part of the way the mean square goes.
    private let meanStep: Double
    /// What the needle shows of a steady sine.
    private let reference: Double

    /// Samples beyond count as this, +60 dBFS: one that is damaged does not hold the needle for minutes.
    private static let most: Float = 1000
    /// What is less is nothing: -180 dBFS.
    private let least: Double

    /// A movement for audio of `rate` frames a second. [control]
    public init(_ kind: Kind, rate: Double) {
        movement = kind.movement
        least = movement == .averages ? 1e-18 : 1e-9
        // A system of second order; damping and frequency were solved for 99 % at 300 ms and 1.25 % beyond.
        let (damping, frequency) = (0.8127, 13.512)
        let turned = frequency * (1 - damping * damping).squareRoot()
        let decay = exp(-damping * frequency / rate)
        let (c, s) = (decay * cos(turned / rate), decay * sin(turned / rate) / turned)
        a11 = c + damping * frequency * s
        a12 = s
        a21 = -frequency * frequency * s
        a22 = c - damping * frequency * s
        // Two capacitors charge at once, one more slowly; fitted to the tone bursts of the standard.
        let (slow, fast, decibels) = kind == .ppm1 ? (600.0, 900.0, 20 / 1.7) : (300.0, 1200.0, 24 / 2.8)
        weight = kind == .ppm1 ? 0.5 : 0.7
        slowStep = 1 - exp(-slow / rate)
        fastStep = 1 - exp(-fast / rate)
        // So that the root of the mean square is at 99 % after 600 ms.
        meanStep = 1 - exp(log(1 - 0.99 * 0.99) / 0.6 / rate)
        left = pow(10, -decibels / 20 / rate)
        // The mean of a rectified sine; a capacitor is not filled to the top.
        reference =
            switch kind {
            case .vu: 2 / .pi
            case .ppm1: 0.979
            case .ppm2: 0.975
            case .k12, .k14, .k20: 0.5.squareRoot()
            }
    }

    /// Takes samples of a channel; nil: silence. What is not a number counts as 0. [audio]
    @_noLocks
    public func take(_ samples: UnsafePointer<Float>?, frames: Int, _ state: UnsafeMutablePointer<State>) {
        var now = state.pointee
        if let samples {
            var frame = 0
            while frame < frames {
                let magnitude = samples[frame].magnitude
                move(&now, magnitude <= Self.most ? Double(magnitude) : magnitude > Self.most ? Double(Self.most) : 0)
                frame &+= 1
            }
        } else if now.first.magnitude > least || now.second.magnitude > least {
            var frame = 0
            while frame < frames {
                move(&now, 0)
                frame &+= 1
            }
        } else {
            (now.first, now.second) = (0, 0)
        }
        state.pointee = now
    }

    /// The most that the needle has shown since the last call, 1 for a sine of full scale. [audio]
    @_noLocks
    public func takeMost(_ state: UnsafeMutablePointer<State>) -> Float {
        let most = max(state.pointee.most, 0)
        state.pointee.most = shown(state.pointee)
        return Float((movement == .averages ? vg_root(most) : most) / reference)
    }

    @_noLocks @inline(__always)
    private func move(_ state: inout State, _ input: Double) {
        switch movement {
        case .swings:
            let (distance, speed) = (state.first - input, state.second)
            state.first = input + a11 * distance + a12 * speed
            state.second = a21 * distance + a22 * speed
        case .charges:
            state.first *= left
            state.second *= left
            if input > state.first { state.first += slowStep * (input - state.first) }
            if input > state.second { state.second += fastStep * (input - state.second) }
        case .averages: state.first += meanStep * (input * input - state.first)
        }
        let now = shown(state)
        if now > state.most { state.most = now }
    }

    @_noLocks @inline(__always)
    private func shown(_ state: State) -> Double {
        switch movement {
        case .swings, .averages: state.first
        case .charges: weight * state.first + (1 - weight) * state.second
        }
    }
}
