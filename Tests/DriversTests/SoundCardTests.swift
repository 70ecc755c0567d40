// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import TestSupport

@testable import Drivers

/// Sound cards: how they are named, and how one that is not there is waited for.
@Suite struct SoundCardTests {
    @Test("The command of jackd names one card, or one to record from and one to play to")
    func commandLine() {
        func arguments(_ change: (inout DriverDescription) -> Void) -> [String] {
            var wanted = DriverDescription()
            change(&wanted)
            return DriverRequest(wanted, client: "c").sound.arguments
        }
        #expect(arguments { _ in } == ["-d", "alsa", "-d", "hw:0", "-n", "2"])
        #expect(
            arguments {
                $0.device = "hw:1"
                $0.periods = 3
            } == ["-d", "alsa", "-d", "hw:1", "-n", "3"])
        #expect(
            arguments {
                $0.capture = "hw:CARD=Mic"
                $0.playback = "hw:2"
            } == ["-d", "alsa", "-C", "hw:CARD=Mic", "-P", "hw:2", "-n", "2"])
        #expect(
            arguments {
                $0.device = "hw:3"
                $0.capture = "hw:1"
            } == ["-d", "alsa", "-C", "hw:1", "-P", "hw:3", "-n", "2"])
        #expect(arguments { $0.playback = "hw:1" } == ["-d", "alsa", "-C", "hw:0", "-P", "hw:1", "-n", "2"])
    }

    @Test(
        "The card is read out of ALSA's names of its devices",
        arguments: [
            ("hw:0", "0"), ("hw:1,0", "1"), ("plughw:PCH", "PCH"), ("hw:CARD=Mic,DEV=0", "Mic"),
            ("front:CARD=Mic,DEV=0", "Mic"), ("front:DEV=0,CARD=Mic", "Mic"), ("default", nil), ("null", nil),
            ("hw:", nil), ("hw:../x", nil), ("dmix:1", nil), ("hw:DEV=0", nil),
        ])
    func names(_ device: String, _ card: String?) {
        #expect(SoundCards.card(of: device) == card)
    }

    @Test("A card is missing that the kernel does not tell of; of a device that names none nothing is known")
    func missing() throws {
        let scratch = try Scratch()
        for name in ["card0", "PCH"] { try scratch.write(name, "") }
        for (device, isMissing) in [
            ("hw:0", false), ("hw:0,3", false), ("hw:PCH", false), ("hw:1", true), ("plughw:CARD=Mic", true),
            ("default", false),
        ] { #expect(SoundCards.lacks(device, in: scratch.path) == isMissing, "\(device)") }
    }

    @Test("For a run that is to last so long, a card that is not there is an error, without a server")
    func error() {
        var request = DriverRequest(kind: .alsa)
        (request.device, request.capture) = ("hw:CARD=vgtNone", "hw:0")
        let error = #expect(throws: DriverError.self) { try DriverChooser.open(request) }
        #expect(
            error?.fault.message == "there is no sound card hw:CARD=vgtNone" && error?.fault.hint == SoundCards.hint)
    }
}

extension JackDriverTests {
    @Test("A driver whose sound card is not there waits for it, tells that, and begins its server when it is")
    func waitsForCard() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        var request = DriverRequest(kind: .alsa, client: "through", server: "vgt-own", rate: 44100, block: 128)
        (request.device, request.waits) = ("hw:CARD=vgtNone", true)
        let waiting = try DriverChooser.open(request)
        #expect(
            waiting.info.kind == .alsa && waiting.info.notice.contains("the sound card hw:CARD=vgtNone is not there"))
        waiting.stop()
        // The same with a server that needs no card.
        var plan = OwnServer.Plan(request)
        (plan.backend, plan.folder) = (.dummy, scratch.path)
        let driver = JackDriver(
            hoping: [ServerPlace(name: nil, library: .jackd, own: plan)], request, isTimed: false, notice: "wait")
        let through = try PassThrough(driver, channels: 1)
        #expect(driver.status.state == .waiting && driver.info.kind == .alsa && driver.server == nil)
        try scratch.write("vgtNone", "")
        try await eventually("audio flows") { driver.status.state == .running && driver.status.cycles > 10 }
        try await eventually("it is told") { through.events.all.contains(.serverFound) }
        #expect(driver.info.ownServer && driver.info.server == "vgt-own" && driver.info.notice == "")
        #expect(driver.info.rate == 44100 && driver.info.block == 128)
        // From then on the server is begun again like any other of our own.
        let server = try #require(driver.server)
        kill(server.processID, SIGKILL)
        try await eventually("it is back") { through.events.all.contains(.serverBack) }
        through.stop()
        #expect(!server.isRunning)
        turn.end()
    }
}
