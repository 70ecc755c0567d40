// SPDX-License-Identifier: Apache-2.0

/// A text as it is shown while it is spoken: one that is marked up without its elements.
package struct ShownText {
    package let text: String
    /// For each Unicode scalar of it, how many stand before it in the text that is spoken; nil: as many as here.
    private let sources: [Int]?

    /// `markup`: whether it is SSML, as `voicegraph speak --ssml` has it.
    package init(_ spoken: String, markup: String = "auto") {
        let isMarkup = markup == "true" || markup == "auto" && Self.isMarkup(spoken)
        guard isMarkup else {
            (text, sources) = (spoken, nil)
            return
        }
        var shown = String.UnicodeScalarView()
        var sources: [Int] = []
        let scalars = Array(spoken.unicodeScalars)
        var place = 0
        func show(_ scalar: Unicode.Scalar) {
            shown.append(scalar)
            sources.append(place)
        }
        func isAt(_ word: String) -> Bool { scalars[place...].starts(with: word.unicodeScalars) }
        func end(_ word: String) -> Int {
            let wanted = Array(word.unicodeScalars)
            return (place..<scalars.count).first { scalars[$0...].starts(with: wanted) }.map { $0 + wanted.count }
                ?? scalars.count
        }
        while place < scalars.count {
            if isAt("<![CDATA[") {
                let last = end("]]>")
                place += "<![CDATA[".count
                while place < last - 3 {
                    show(scalars[place])
                    place += 1
                }
                place = last
            } else if scalars[place] == "<" {
                let last = isAt("<!--") ? end("-->") : isAt("<?") ? end("?>") : end(">")
                // An element may part two words.
                if Self.parts(scalars[place..<last]) { show(" ") }
                place = last
            } else if scalars[place] == "&", let (scalar, length) = Self.entity(scalars[place...].prefix(12)) {
                show(scalar)
                place += length
            } else {
                show(scalars[place])
                place += 1
            }
        }
        (text, self.sources) = (String(shown), sources)
    }

    /// Where in this text something stands that begins in the text that is spoken after so many Unicode scalars.
    package func offset(of source: Int) -> Int {
        guard let sources else { return source }
        var (low, high) = (0, sources.count)
        while low < high {
            let middle = (low + high) / 2
            if sources[middle] < source { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a text begins with the element `speak`, behind a declaration and remarks (W3C, SSML 1.1).
    private static func isMarkup(_ text: String) -> Bool {
        var rest = text.drop { $0.isWhitespace }
        while rest.hasPrefix("<?") || rest.hasPrefix("<!") {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...].drop { $0.isWhitespace }
        }
        guard rest.hasPrefix("<speak"), let next = rest.dropFirst("<speak".count).first else { return false }
        return next == ">" || next == "/" || next.isWhitespace
    }

    private static func parts(_ element: ArraySlice<Unicode.Scalar>) -> Bool {
        var name = String.UnicodeScalarView()
        name.append(contentsOf: element.dropFirst().drop { $0 == "/" }.prefix { $0.properties.isAlphabetic })
        return ["p", "s", "break", "paragraph", "sentence"].contains(String(name).lowercased())
    }

    /// A character that stands for another (W3C, XML 1.0, 4.1 and 4.6).
    private static func entity(_ scalars: ArraySlice<Unicode.Scalar>) -> (Unicode.Scalar, length: Int)? {
        guard let end = scalars.firstIndex(of: ";") else { return nil }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[(scalars.startIndex + 1)..<end])
        let name = String(view)
        let known: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst(1))
        guard let scalar = known[name] ?? (name.hasPrefix("#") ? number.flatMap(Unicode.Scalar.init) : nil) else {
            return nil
        }
        return (scalar, end - scalars.startIndex + 1)
    }
}
