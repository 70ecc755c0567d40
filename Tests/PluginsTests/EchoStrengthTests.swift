// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// Where the echo is weak, or there is none: headphones, quiet loudspeakers, microphones that cancel it themselves.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .disabled(if: Sanitizer.takesAddresses, "it computes for long there; EchoInputTests calls all of it"))
struct EchoStrengthTests {
    /// An echo, and what it is heard in.
    struct Point: Sendable, CustomTestStringConvertible {
        var voice = EchoVoice.human
        var room = EchoRoom.office
        /// dB of the echo, as loud as what is played at 0; nil: there is none.
        var echo: Double?
        /// dBFS of the noise of the microphone.
        var noise: Double
        var rate = 16000
        /// Milliseconds.
        var tail = 300.0

        var testDescription: String {
            "\(voice.rawValue) in \(room.name), echo \(echo.map { "\($0) dB" } ?? "none"), noise \(noise) dBFS, \(rate) Hz"
        }

        /// What the microphone hears of what is played.
        func heard(_ played: [Float]) -> [Float] {
            let noise = Signal.noise(
                frames: played.count, seed: 9, amplitude: Float(3.0.squareRoot() * pow(10, self.noise / 20)))
            guard let echo else { return noise }
            let gain = Float(pow(10, echo / 20))
            return mixed(noise, room.heard(played, rate: rate).map { $0 * gain })
        }
    }

    private static let cupboard = EchoRoom(name: "a cupboard", reverberation: 0.06, delay: 0.004, seed: 6)

    static let points = [
        Point(echo: nil, noise: -45),
        Point(voice: .flite, echo: nil, noise: -70),
        Point(voice: .espeak, room: .hall, echo: -40, noise: -60),
        Point(room: .hall, echo: -24, noise: -50, tail: 500),
        Point(voice: .flite, room: cupboard, echo: -24, noise: -65, rate: 48000, tail: 64),
        Point(voice: .flite, room: .hall, echo: -18, noise: -40, rate: 8000),
        Point(voice: .espeak, echo: -12, noise: -55),
        Point(room: .hall, echo: 0, noise: -65),
    ]

    private func bench(_ point: Point) throws -> EchoBench {
        try EchoBench(["tail_ms": .number(point.tail)], rate: point.rate)
    }

    private func played(_ point: Point, seconds: Int) throws -> [Float] {
        let once = try point.voice.samples(rate: point.rate)
        return (0..<seconds * point.rate).map { once[$0 % once.count] }
    }

    /// Somebody who speaks from a second on.
    private func speaker(_ point: Point, from second: Int) throws -> [Float] {
        [Float](repeating: 0, count: second * point.rate) + (try EchoVoice.human.samples(rate: point.rate, other: true))
    }

    @Test("Who speaks loses at most 2 dB however weak the echo is, and no other way is told", arguments: points)
    func loss(_ point: Point) throws {
        let played = try played(point, seconds: 9)
        let near = try speaker(point, from: 5)
        var bench = try bench(point)
        bench.run(mixed(point.heard(played), near), reference: played)
        let (loss, pieces) = (bench.loss(5..<8.2, of: near), bench.lossInPieces(5..<8.2, of: near))
        print("figure: \(point.testDescription): who speaks loses \(loss) dB, \(pieces) dB as the mean of pieces")
        #expect(abs(loss) <= 2 && abs(pieces) <= 4)
        let changes = bench.node.capture.events("echo.changed").map { Double($0.frame) / Double(point.rate) }
        #expect(changes.isEmpty, "\(changes)")
    }

    /// As loud as the voice that is played, and 6 dB less: where the way is still being learnt, and the filter is long.
    static let young = [EchoRoom.office, .hall].flatMap { room in
        [0.0, -6].flatMap { echo in
            [300.0, 500].flatMap { tail in
                [EchoVoice.human, .flite].map { Point(voice: $0, room: room, echo: echo, noise: -65, tail: tail) }
            }
        }
    }

    @Test("Who speaks two seconds after the voice began is heard", arguments: young) func early(_ point: Point) throws {
        let played = try played(point, seconds: 6)
        let near = try speaker(point, from: 2)
        var bench = try bench(point)
        bench.run(mixed(point.heard(played), near), reference: played)
        let (loss, pieces) = (bench.loss(2..<5.2, of: near), bench.lossInPieces(2..<5.2, of: near))
        print(
            "figure: \(point.testDescription), \(point.tail) ms: who speaks soon loses \(loss) dB, \(pieces) dB as the mean "
                + "of pieces")
        #expect(abs(loss) <= 4 && abs(pieces) <= 6.5)
        var alone = try self.bench(point)
        alone.run(point.heard(played), reference: played)
        #expect(alone.loss(2..<4) >= (point.echo == 0 ? 25 : 20))
    }

    @Test("A voice of which nothing is heard takes nothing away after a minute either") func minute() throws {
        let point = Point(echo: nil, noise: -50)
        let played = try played(point, seconds: 60)
        let near = try speaker(point, from: 56)
        var bench = try bench(point)
        bench.run(mixed(point.heard(played), near), reference: played)
        #expect(abs(bench.loss(56..<59, of: near)) <= 1)
        // The noise itself.
        #expect(abs(bench.loss(46..<56)) <= 3)
    }

    @Test("A loudspeaker that was off is learnt again", arguments: [EchoRoom.office, .hall], [0.0, -20])
    func off(_ room: EchoRoom, _ echo: Double) throws {
        let point = Point(room: room, echo: echo, noise: -65)
        let played = try played(point, seconds: 20)
        let silent = Point(room: room, echo: nil, noise: -65).heard(played)
        let off = 6 * point.rate..<14 * point.rate
        var heard = point.heard(played)
        heard.replaceSubrange(off, with: silent[off])
        var bench = try bench(point)
        bench.run(heard, reference: played)
        let (before, after) = (bench.loss(4..<6), bench.loss(17..<20))
        print("figure: \(room.name), echo \(echo) dB: ERLE \(before) dB before it was off, \(after) after that")
        #expect(after > before - 6 && after > 12)
        let told = bench.node.capture.events("echo.changed").map { Double($0.frame) / Double(point.rate) }
        #expect(told.contains { $0 > 6 && $0 < 8 }, "\(told)")
    }
}
