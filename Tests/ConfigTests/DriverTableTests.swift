// SPDX-License-Identifier: Apache-2.0
import Config
import GraphFile
import TestSupport

/// What `[driver]` says, and what goes before it.
@Suite("The driver in a file") struct DriverTableTests {
    private func load(_ table: String, _ overrides: String...) -> (DriverDescription?, [Diagnostic]) {
        let (description, diagnostics) = ConfigFile.load(
            text: "[node.a]\ntype = \"tone\"\n" + table, overrides: overrides, environment: ["CARD": "hw:7"])
        return (description?.driver, diagnostics)
    }

    @Test("All its keys arrive, and what is not said is left open")
    func keys() {
        let (driver, diagnostics) = load(
            """
            [driver]
            kind = "alsa"
            device = "${CARD}"
            capture = "hw:1"
            playback = "hw:2"
            server = "studio"
            rate = 96000
            block = 64
            periods = 3
            """)
        #expect(diagnostics.isEmpty)
        var expected = DriverDescription()
        (expected.kind, expected.device, expected.server) = (.alsa, "hw:7", "studio")
        (expected.capture, expected.playback) = ("hw:1", "hw:2")
        (expected.rate, expected.block, expected.periods) = (96_000, 64, 3)
        #expect(driver == expected)
        #expect(load("").0 == DriverDescription())
    }

    @Test("A sound card that no driver looks at is told", arguments: ["device", "capture", "playback"])
    func idleCard(_ key: String) {
        let (_, diagnostics) = load("[driver]\n\(key) = \"hw:1\"")
        #expect(diagnostics.map(\.message) == ["the driver 'auto' does not look at '\(key)'"])
        #expect(load("[driver]\nkind = \"alsa\"\n\(key) = \"hw:1\"").1.isEmpty)
    }

    @Test("The command line goes before the file, and an including file before what it includes")
    func order() throws {
        let (driver, diagnostics) = load(
            "[driver]\nkind = \"jack\"\nblock = 64\n", "driver.kind=alsa", "driver.device=hw:1", "driver.block=128")
        #expect(diagnostics.isEmpty)
        #expect(driver?.kind == .alsa && driver?.device == "hw:1" && driver?.block == 128)
        let scratch = try Scratch()
        try scratch.write("inner.conf", "[driver]\nkind = \"jack\"\nrate = 44100\n[node.a]\ntype = \"tone\"\n")
        let outer = try scratch.write("outer.conf", "[driver]\nkind = \"dummy\"\n")
        #expect(ConfigFile.load(path: outer).0?.driver.rate == nil)
        try scratch.write("outer.conf", "include = \"inner.conf\"\n[driver]\nkind = \"dummy\"\n")
        let both = ConfigFile.load(path: outer).0?.driver
        #expect(both?.kind == .dummy && both?.rate == 44_100)
    }

    @Test(
        "Every mistake in it is told, with its line",
        arguments: [
            ("kind = 3", "'kind' must be a string"), ("kind = \"Jack\"", "there is no driver 'Jack'"),
            ("block = 15", "'block' cannot be 15"), ("block = \"64\"", "'block' cannot be '64'"),
            ("rate = 1e5", "'rate' cannot be 100000.0"), ("periods = 1", "'periods' cannot be 1"),
            ("rate = 99999999999", "'rate' cannot be 99999999999"),
            ("device = \"-P\"", "'device' must be a name, not '-P'"),
            ("channels = 2", "unknown key 'channels'"),
        ])
    func mistakes(_ line: String, _ message: String) {
        let (_, diagnostics) = load("[driver]\n" + line)
        #expect(diagnostics.map(\.message) == [message])
        #expect(diagnostics.first?.location.line == 4)
    }
}
