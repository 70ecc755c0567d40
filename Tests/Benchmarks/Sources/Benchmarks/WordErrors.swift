// SPDX-License-Identifier: Apache-2.0

/// How a recognized text differs from what was said.
struct WordErrors {
    /// Words that were put in, left out or are others.
    var errors = 0
    /// Words that were said.
    var words = 0

    /// Of a hundred words.
    var percent: Double { words == 0 ? .nan : 100 * Double(errors) / Double(words) }

    /// Adds a text beside what was said.
    mutating func add(_ text: String, said: String) {
        let (found, wanted) = (spokenWords(text), spokenWords(said))
        words += wanted.count
        // The least number of changes that make the one from the other.
        var row = Array(0...wanted.count)
        for (index, word) in found.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (place, other) in wanted.enumerated() {
                let change = diagonal + (word == other ? 0 : 1)
                diagonal = row[place + 1]
                row[place + 1] = min(change, diagonal + 1, row[place] + 1)
            }
        }
        errors += row[wanted.count]
    }
}

/// The words of a text as they are said: small letters, without punctuation, whole numbers and titles in full. A recognizer
/// may write "13" for "thirteen", and has heard it.
func spokenWords(_ text: String) -> [String] {
    let titles = ["mr": "mister", "dr": "doctor"]
    let words = text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "'" }
    return words.flatMap { word in Int(word).map(spelled) ?? [titles[String(word)] ?? String(word)] }
}

/// A whole number in words, below a million; a larger one as it is written.
private func spelled(_ number: Int) -> [String] {
    let small = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ]
    let tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    func rest(_ number: Int) -> [String] { number == 0 ? [] : spelled(number) }
    return switch number {
    case 0..<20: [small[number]]
    case 20..<100: [tens[number / 10 - 2]] + rest(number % 10)
    case 100..<1000: [small[number / 100], "hundred"] + rest(number % 100)
    case 1000..<1_000_000: spelled(number / 1000) + ["thousand"] + rest(number % 1000)
    default: [String(number)]
    }
}

/// Recordings of people with what they say.
struct Recording {
    var path: String
    var said: String

    /// Those of the Debian package pocketsphinx-testdata: prose that is read, and cards that are named.
    static func all() -> (prose: [Recording], cards: [Recording]) {
        let folder = "/usr/share/pocketsphinx/test/data/"
        return (read(folder + "librivox/", "transcription"), read(folder + "cards/", "cards.transcription"))
    }

    /// A line is "<s> what is said </s> (name)".
    private static func read(_ folder: String, _ list: String) -> [Recording] {
        (readFile(folder + list) ?? "").split(separator: "\n").compactMap { line in
            guard let end = line.firstRange(of: "</s> ("), line.hasPrefix("<s> "), line.hasSuffix(")") else {
                return nil
            }
            let name = line[end.upperBound...].dropLast()
            return Recording(path: "\(folder)\(name).wav", said: String(line[..<end.lowerBound].dropFirst(4)))
        }
    }
}
