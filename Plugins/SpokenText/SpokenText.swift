// SPDX-License-Identifier: Apache-2.0

/// A text as it is spoken, of which each Unicode scalar knows the one of the written text that it comes from.
public struct SpokenText: Sendable {
    /// What is spoken.
    public private(set) var scalars: [Unicode.Scalar] = []
    /// Scalars of the written text before the one that each comes from; nil: it was added for the voice.
    public private(set) var origins: [Int?] = []

    /// Nothing.
    public init() {}

    /// Each scalar of a text as it stands.
    public init(asWritten text: String) {
        scalars = Array(text.unicodeScalars)
        origins = Array(scalars.indices)
    }

    /// How many scalars are spoken.
    public var count: Int { scalars.count }
    /// Whether nothing is spoken.
    public var isEmpty: Bool { scalars.isEmpty }
    /// The same as a text.
    public var text: String { Self.text(scalars[...]) }

    /// Whether there is anything but marks and spaces.
    public var isSpeakable: Bool {
        scalars.contains {
            !$0.properties.isWhitespace && !$0.isPunctuation && $0.properties.generalCategory != .format
        }
    }

    /// Adds a scalar, which comes from a place of the written text or from none.
    public mutating func append(_ scalar: Unicode.Scalar, from origin: Int?) {
        scalars.append(scalar)
        origins.append(origin)
    }

    /// Adds what follows.
    public mutating func append(_ other: SpokenText) {
        scalars += other.scalars
        origins += other.origins
    }

    /// A part of it, without white space at its ends.
    public func trimmed(_ range: Range<Int>) -> SpokenText {
        var (first, last) = (range.lowerBound, range.upperBound)
        while first < last, scalars[first].properties.isWhitespace { first += 1 }
        while last > first, scalars[last - 1].properties.isWhitespace { last -= 1 }
        var result = SpokenText()
        result.scalars = Array(scalars[first..<last])
        result.origins = Array(origins[first..<last])
        return result
    }

    /// Takes away so many scalars at the beginning.
    public mutating func removeFirst(_ count: Int) {
        scalars.removeFirst(count)
        origins.removeFirst(count)
    }

    /// Where a part of it stands in the written text; nil: nowhere.
    public func written(_ range: Range<Int>) -> Range<Int>? {
        let known = origins[range].compactMap { $0 }
        guard let first = known.first, let last = known.last else { return nil }
        return first..<last + 1
    }

    /// A part of it without what was added for the voice.
    public func known(_ range: Range<Int>) -> String {
        Self.text(range.filter { origins[$0] != nil }.map { scalars[$0] }[...])
    }

    /// The first place of what is spoken that stands at a place of the written text or behind it.
    public func place(ofWritten place: Int) -> Int {
        origins.firstIndex { $0.map { $0 >= place } ?? false } ?? count
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}

extension Unicode.Scalar {
    var isPunctuation: Bool {
        switch properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: self == "`" || self == "|" || self == "~" || self == "^"
        }
    }

    /// A letter, a number or what belongs to one.
    var isWordPart: Bool {
        properties.isAlphabetic || properties.numericType != nil || properties.generalCategory == .nonspacingMark
    }

    var isDigit: Bool { ("0"..."9").contains(self) }
    var isNewline: Bool { self == "\n" || self == "\r" || self == "\u{2028}" || self == "\u{2029}" }
}
