// SPDX-License-Identifier: Apache-2.0

/// Lines of at most `width` characters; a word that is longer stays whole. [any]
package func wrap(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
        var line = ""
        for word in paragraph.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
    }
    return lines
}

/// With blanks behind it to so many characters, at least one. [any]
package func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(text.count < width ? 0 : 1, width - text.count))
}

/// Without blanks at its end. [any]
package func trimmedRight(_ text: String) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return text
}
