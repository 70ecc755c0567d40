// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A room as a microphone hears a loudspeaker in it: the way between them, and reflections that become denser and die away,
/// at random times and with random signs.
public struct EchoRoom: Sendable, CustomTestStringConvertible {
    /// What it is called.
    public var name: String
    /// Seconds until reflections are 60 dB quieter.
    public var reverberation: Double
    /// Seconds until the first sound.
    public var delay: Double
    /// Of its reflections.
    public var seed: UInt64

    /// Describes a room.
    public init(name: String, reverberation: Double, delay: Double, seed: UInt64) {
        self.name = name
        self.reverberation = reverberation
        self.delay = delay
        self.seed = seed
    }

    /// Its name.
    public var testDescription: String { name }

    /// A small room.
    public static let office = EchoRoom(name: "an office", reverberation: 0.25, delay: 0.012, seed: 3)
    /// A large one.
    public static let hall = EchoRoom(name: "a hall", reverberation: 0.5, delay: 0.025, seed: 4)

    /// What is heard of what is played, with a return of 0 dB: as loud as that, on the whole.
    public func heard(_ played: [Float], rate: Int) -> [Float] {
        var random = TestRandom(seed: seed)
        var taps: [(place: Int, gain: Float)] = [(Int(delay * Double(rate)), 1)]
        // Two in a millisecond, at -8 dB first.
        for index in 0..<Int(reverberation * 2000) {
            let time = (Double(index) + 0.5 + 0.5 * Double(random.sample())) / 2000
            let gain = 0.4 * pow(10, -3 * time / reverberation) * (random.sample() < 0 ? -1 : 1)
            taps.append((Int((delay + 0.002 + time) * Double(rate)), Float(gain)))
        }
        var result = [Float](repeating: 0, count: played.count)
        result.withUnsafeMutableBufferPointer { result in
            played.withUnsafeBufferPointer { played in
                for (place, gain) in taps where place < played.count {
                    var index = place
                    while index < played.count {
                        result[index] += gain * played[index &- place]
                        index &+= 1
                    }
                }
            }
        }
        let scale = Float(Signal.rms(played) / Signal.rms(result))
        return result.map { $0 * scale }
    }
}

/// The noise of a quiet room in a microphone: -65 dBFS.
public func roomNoise(_ frames: Int) -> [Float] {
    Signal.noise(frames: frames, seed: 9, amplitude: Float(3.0.squareRoot() * pow(10, -65.0 / 20)))
}

/// The sum of signals, as long as the first.
public func mixed(_ first: [Float], _ others: [Float]...) -> [Float] {
    others.reduce(first) { sum, other in sum.indices.map { sum[$0] + ($0 < other.count ? other[$0] : 0) } }
}

/// A signal so many frames later, as long as before.
public func delayed(_ samples: [Float], _ frames: Int) -> [Float] {
    [Float](repeating: 0, count: frames) + samples.dropLast(frames)
}
