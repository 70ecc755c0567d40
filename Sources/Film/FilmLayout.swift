// SPDX-License-Identifier: Apache-2.0
import Picture

/// Where things stand in the pictures of a film, in pixels: nothing touches the edge, and captions have a place of their own.
package struct FilmLayout: Sendable {
    /// Of the whole.
    package var size: PictureSize
    /// From the edge to what is shown.
    package let margin: Int
    /// How high the letters of numbers are; nil: there are none, or they would be too small to read.
    package let numbers: Double?
    /// How high a line of captions is; nil: there are none.
    package let caption: Double?
    /// The picture itself.
    package let picture: (x: Int, y: Int, width: Int, height: Int)

    /// Lines of a caption.
    private static let lines = 2.0
    /// What a line holds, in heights of it: `Cue.lineColumns` letters, which are half as wide.
    private static let lineWidth = 23.0

    /// `hasNumbers`: above the picture; `hasCaptions`: below it.
    package init(_ size: PictureSize, hasNumbers: Bool, hasCaptions: Bool) {
        self.size = size
        let side = Double(min(size.width, size.height))
        margin = Int((side * 0.08).rounded())
        let room = Double(size.width - 2 * margin)
        numbers = hasNumbers && side / 26 >= 7 ? side / 26 : nil
        caption = hasCaptions ? min(Double(size.height) / 18, room / Self.lineWidth) : nil
        let top = margin + Int(((numbers ?? 0) * 2).rounded(.up))
        let bottom = margin + Int(((caption ?? 0) * (Self.lines + 0.5)).rounded(.up))
        picture = (margin, top, max(1, size.width - 2 * margin), max(1, size.height - top - bottom))
    }

    /// How ffmpeg's filter `subtitles` is to draw captions: in the ground's opposite, without an outline, within their place;
    /// nil: there are none. It counts on 288 lines and 384 columns.
    func style(isLight: Bool) -> String? {
        caption.map { letters in
            func lines(_ pixels: Double) -> String { tenths(pixels * 288 / Double(size.height)) }
            let side = tenths(Double(margin) * 384 / Double(size.width))
            // Blue, green, red.
            let ink = isLight ? "&H0030231B" : "&H00F0EBE8"
            return "FontSize=\(lines(letters)),PrimaryColour=\(ink),BorderStyle=1,Outline=0,Shadow=0,Alignment=2,"
                + "MarginV=\(lines(Double(margin))),MarginL=\(side),MarginR=\(side)"
        }
    }

    private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
