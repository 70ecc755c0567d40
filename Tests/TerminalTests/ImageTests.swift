// SPDX-License-Identifier: Apache-2.0
import Foundation
import Picture
import TestSupport
import Testing

@testable import Terminal

/// Pictures in pixels.
@Suite struct ImageTests {
    private static func capabilities(_ encoding: Graphics.Encoding) -> TerminalCapabilities {
        TerminalCapabilities(graphics: Graphics(encoding))
    }

    @Test(
        "A terminal says how it shows pixels",
        arguments: [
            ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;20;10t\u{1B}[?62;4c", Graphics(.kitty, cellWidth: 10, cellHeight: 20)),
            ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c", Graphics(.kitty)),
            ("\u{1B}[6;18;9t\u{1B}[?63;1;2;4;6c", Graphics(.sixel, cellWidth: 9, cellHeight: 18)),
            ("\u{1B}[?63;1;2;4;6c", nil), ("\u{1B}[6;0;0t\u{1B}[?63;4c", nil), ("\u{1B}[6;18;9t\u{1B}[?64;14;24c", nil),
            ("\u{1B}_Gi=31;ENOTSUP\u{1B}\\\u{1B}[6;18;9t\u{1B}[?1;2c", nil), ("", nil),
        ] as [(String, Graphics?)])
    func told(answer: String, expected: Graphics?) {
        #expect(graphics(Array(answer.utf8), nil) == expected)
    }

    @Test("The size of a cell that the system knows counts where the terminal does not say") func known() {
        let told = Array("\u{1B}[?63;4c".utf8)
        #expect(graphics(told, (7, 15)) == Graphics(.sixel, cellWidth: 7, cellHeight: 15))
    }

    @Test(
        "A picture stays within its cells, and within what is sent at most",
        arguments: [
            Area(x: 2, y: 3, width: 40, height: 20), Area(x: 0, y: 0, width: 1, height: 1),
            Area(x: 1, y: 1, width: 300, height: 150), Area(x: 9, y: 0, width: 3, height: 90),
        ],
        [Graphics(.kitty), Graphics(.sixel), Graphics(.sixel, cellWidth: 19, cellHeight: 41)])
    func places(area: Area, graphics: Graphics) {
        let place = graphics.place(area)
        #expect(place.area.x >= area.x && place.area.x + place.area.width <= area.x + area.width)
        #expect(place.area.y >= area.y && place.area.y + place.area.height <= area.y + area.height)
        #expect(place.width > 0 && place.height > 0 && place.width * place.height <= 1 << 18)
        guard graphics.encoding == .sixel else { return }
        #expect(place.height % 6 == 0 && place.height <= place.area.height * graphics.cellHeight)
        #expect(place.width <= place.area.width * graphics.cellWidth)
    }

    /// Keys and the pixels of what was sent to kitty as one picture.
    private func received(_ pictures: [Emulator.Picture]) throws -> (keys: Set<Substring>, pixels: [UInt8]) {
        var data = ""
        for (place, part) in pictures.enumerated() {
            let (keys, payload) = try #require(part.text.dropFirst().split(separator: ";").pair)
            #expect(part.text.first == "G" && payload.utf8.count <= 4096)
            #expect(keys.hasSuffix("m=\(place == pictures.count - 1 ? 0 : 1)"))
            data += payload
        }
        let keys = pictures[0].text.dropFirst().prefix { $0 != ";" }.split(separator: ",")
        return (Set(keys), Array(try #require(Data(base64Encoded: data))))
    }

    @Test("A terminal like kitty gets the picture in 32 bits, in its place, again only when it changes")
    func kittyScreen()
        throws
    {
        let view = scene(Self.capabilities(.kitty), width: 80, height: 24)
        var terminal = Emulator(width: 80, height: 24)
        terminal.apply(view.frame(at: 10.03))
        #expect(terminal.faults.isEmpty)
        #expect(terminal.text.contains("glowing") && !terminal.text.contains("▀"))
        // The first forgets what other programs had shown.
        #expect(terminal.pictures.first?.text == "Ga=d,d=A,q=2")
        let sent = Array(terminal.pictures.dropFirst())
        let (keys, pixels) = try received(sent)
        #expect(keys.isSuperset(of: ["a=T", "f=32", "C=1", "q=2", "p=1"]))
        func number(_ key: String) -> Int {
            keys.first { $0.hasPrefix(key + "=") }.flatMap { Int($0.dropFirst(key.count + 1)) } ?? 0
        }
        #expect(pixels.count == 4 * number("s") * number("v"))
        #expect(sent[0].x + number("c") <= 80 && sent[0].y + number("r") < 24)
        #expect(pixels.count { $0 > 40 } > pixels.count / 10, "an orb is there")
        #expect(view.frame(at: 10.03).isEmpty)
        terminal.pictures = []
        terminal.apply(view.frame(at: 10.2))
        #expect(terminal.pictures.count == sent.count && terminal.pictures[0].text.contains(",i=\(number("i")),"))
    }

    @Test("Where the list of keys is shown there are cells, and the pictures go", arguments: Graphics.Encoding.allCases)
    func help(encoding: Graphics.Encoding) {
        let view = scene(Self.capabilities(encoding), width: 100, height: 40)
        var terminal = Emulator(width: 100, height: 40)
        terminal.apply(view.frame(at: 10.03))
        #expect(terminal.text.contains("\u{A0}") && !terminal.text.contains("▀"))
        terminal.pictures = []
        #expect(!view.press([.text("?")], at: 10.04))
        terminal.apply(view.frame(at: 10.05))
        #expect(terminal.text.contains("▀") && terminal.text.contains("this list"))
        #expect(!terminal.text.contains("\u{A0}"), "every cell is written over")
        let isKitty = encoding == .kitty
        #expect(terminal.pictures.map(\.text) == (isKitty ? ["Ga=d,d=I,i=7100,q=2"] : []))
        #expect(terminal.faults.isEmpty)
    }

    @Test("Sixels show the picture, as the library's own reader sees it") func sixels() throws {
        var image = PixelImage(width: 96, height: 48)
        for y in 0..<48 { for x in 0..<96 { image.pixels[y * 96 + x] = SIMD4(Float(x) / 95, Float(y) / 47, 0.4, 1) } }
        let scratch = try Scratch()
        let ground = Color(0.1, 0.1, 0.2)
        let bytes = Sixels.encode(image, over: ground)
        #expect(bytes.starts(with: "\u{1B}P".utf8) && bytes.suffix(2) == [0x1B, 0x5C])
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("a.six")))
        try run("sixel2png", ["-i", scratch.file("a.six"), "-o", scratch.file("a.png")])
        try run(
            "ffmpeg",
            ["-v", "error", "-i", scratch.file("a.png"), "-f", "rawvideo", "-pix_fmt", "rgb24", scratch.file("a.rgb")])
        let read = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.rgb")))
        let wanted = image.rgb(over: ground)
        try #require(read.count == wanted.count)
        let error = zip(read, wanted).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } / wanted.count
        #expect(error < 25, "the steps of the 256 colours are 40 to 95 wide")
    }

    @Test("A screen with sixels has them in their place, again only when they change") func sixelScreen() {
        let view = scene(Self.capabilities(.sixel), width: 80, height: 24)
        var terminal = Emulator(width: 80, height: 24)
        terminal.apply(view.frame(at: 10.03))
        #expect(terminal.faults.isEmpty && terminal.pictures.count == 1 && terminal.pictures[0].isDevice)
        #expect(view.frame(at: 10.03).isEmpty)
        terminal.apply(view.frame(at: 10.2))
        #expect(terminal.pictures.count == 2)
    }

    @Test("Pixels without what they are multiplied by") func straight() {
        var image = PixelImage(width: 3, height: 1)
        image.pixels = [SIMD4(0.25, 0.125, 0, 0.5), .zero, SIMD4(1, 1, 1, 1)]
        #expect(image.rgba() == [128, 64, 0, 128, 0, 0, 0, 0, 255, 255, 255, 255])
    }
}

extension [Substring] {
    /// Both, if they are two.
    fileprivate var pair: (Substring, Substring)? { count == 2 ? (self[0], self[1]) : nil }
}
