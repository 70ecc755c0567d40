// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Finds the driver that a user's wish and the machine allow.
public enum DriverChooser {
    /// Opens a driver; a server of our own answers before this returns. [control]
    public static func open(_ request: DriverRequest) throws(DriverError) -> any Driver {
        switch request.kind {
        case .jack: return try jack(request)
        case .pipewire: return try pipeWire(request)
        case .alsa: return try alsa(request)
        case .dummy: return try dummy(request, notice: "")
        case .auto: return try first(request)
        }
    }

    /// The server that is asked for a client just now and has not answered yet, and for how many seconds it is waited for;
    /// nil: none is. [any]
    public static var unanswered: (server: String, seconds: Double)? { JackLibrary.unanswered }

    /// The running server, else PipeWire, else what nobody hears.
    private static func first(_ request: DriverRequest) throws(DriverError) -> any Driver {
        do throws(JackLibrary.OpenError) { return try connect(request, .any) } catch {
            switch error {
            case .noServer, .noLibrary: break
            default: throw error.asDriverError(server: request.server)
            }
        }
        var fault = ""
        if PipeWireSocket.path(request.server) != nil {
            do throws(JackLibrary.OpenError) { return try connect(request, .pipewire) } catch {
                fault = error.asDriverError(server: request.server, .pipewire).fault.message
            }
        }
        // A server of this name was meant, and not one more of our own.
        if let server = request.server {
            if request.waits { return waiting(request, .any) }
            throw missing(server)
        }
        return try dummy(request, notice: silence(fault), hopes: ServerPlace.usual)
    }

    /// A server of our own on sound cards, which are waited for as a server is.
    private static func alsa(_ request: DriverRequest) throws(DriverError) -> JackDriver {
        let plan = OwnServer.Plan(request)
        guard ServerProcess.executable != nil, let missing = plan.missing.first else {
            return try OwnServer.open(request, plan.backend)
        }
        if request.waits { return waiting(request, for: [ServerPlace(name: nil, library: .jackd, own: plan)]) }
        throw DriverError("there is no sound card \(missing)", hint: SoundCards.hint)
    }

    /// A driver that waits for its server.
    private static func waiting(_ request: DriverRequest, _ library: JackLibrary.Provider) -> JackDriver {
        waiting(request, for: ServerPlace.named(request.server, library))
    }

    private static func waiting(_ request: DriverRequest, for hopes: [ServerPlace]) -> JackDriver {
        let lack = hopes[0].text + (hopes[0].own == nil ? " is not running" : " is not there")
        return JackDriver(
            hoping: hopes, request, isTimed: false,
            notice: "nothing is heard yet: \(lack); it is waited for, and played through as soon as it is there")
    }

    /// What is said where nobody listens.
    private static func silence(_ fault: String) -> String {
        let others = ServerNames.running.filter { !OwnServer.names.contains($0) }.map { "--server \($0)" }
        return "nothing will be heard: no JACK server named '\(JackLibrary.defaultServer)' is running, and "
            + (fault.isEmpty ? "no PipeWire" : fault) + "; start one, which is played through as soon as it is there, "
            + (others.isEmpty ? "" : "choose another (\(others.joined(separator: ", "))), ")
            + "or play to a sound card with --driver alsa"
    }

    /// What is wrong when no server is called `name`, with those that there are.
    private static func missing(_ name: String) -> DriverError {
        var there = ServerNames.running.map { "--server \($0)" }
        if PipeWireSocket.path() != nil { there.append("--driver pipewire") }
        return DriverError(
            "no JACK server named '\(name)' is running",
            hint: (there.isEmpty
                ? "no other is running either: " : "there is \(there.joined(separator: ", ")): use that, ")
                + "start it (jackd -n \(name) -d alsa), or have one of our own with --driver alsa or --driver dummy")
    }

    private static func jack(_ request: DriverRequest) throws(DriverError) -> JackDriver {
        do { return try connect(request, .any) } catch {
            if case .noServer = error {
                if request.waits { return waiting(request, .any) }
                throw missing(request.server ?? JackLibrary.defaultServer)
            }
            throw error.asDriverError(server: request.server)
        }
    }

    private static func pipeWire(_ request: DriverRequest) throws(DriverError) -> JackDriver {
        do { return try connect(request, .pipewire) } catch {
            if case .noServer = error, request.waits { return waiting(request, .pipewire) }
            throw error.asDriverError(server: request.server, .pipewire)
        }
    }

    /// A client of a server that is there.
    private static func connect(
        _ request: DriverRequest, _ library: JackLibrary.Provider
    ) throws(JackLibrary.OpenError) -> JackDriver {
        let client = try JackLibrary.open(name: request.client, server: request.server, library: library)
        let driver = JackDriver(adopting: client, name: request.client, server: request.server, library: library)
        driver.setNotice(request.notice(of: driver.info))
        driver.waits = request.waits
        return driver
    }

    /// What is wrong, in one line.
    static func sentence(_ error: DriverError) -> String {
        let parts = [error.fault.message] + error.details.suffix(1)
        return Fault(parts.joined(separator: ": "), hint: error.fault.hint).description
    }

    /// Our own server that nobody hears, or a timer where there cannot be one; until there is one at `hopes`.
    private static func dummy(
        _ request: DriverRequest, notice: String, hopes: [ServerPlace] = []
    ) throws(DriverError) -> any Driver {
        var notices = [notice]
        if ServerProcess.executable != nil {
            do throws(DriverError) {
                let driver = try OwnServer.open(request, .dummy)
                driver.setNotice(notice)
                driver.hope(for: hopes, request)
                return driver
            } catch {
                // A server of this name was meant.
                if request.server != nil, !ServerNames.wereTaken(error) { throw error }
                notices.append(
                    ServerNames.wereTaken(error) ? ServerNames.advice : "a timer calls the graph: " + sentence(error))
            }
        }
        let told = notices.filter { !$0.isEmpty }.joined(separator: "; ")
        if !hopes.isEmpty { return JackDriver(hoping: hopes, request, isTimed: true, notice: told) }
        return TimerDriver(
            name: request.client, rate: Double(request.rate ?? 48_000), block: request.block ?? 256, notice: told)
    }
}
