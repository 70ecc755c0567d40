// SPDX-License-Identifier: Apache-2.0
import Config
import GraphFile

/// Any text is a chain of links: it is read without a crash, and every place lies in the text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLinks(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let place = SourceLocation(file: "fuzz", line: 1, column: 1, length: text.utf8.count)
    let (links, diagnostics) = LinkDescription.parse(text, at: place)
    precondition(!links.isEmpty || !diagnostics.isEmpty, "neither links nor a reason")
    let places = diagnostics.map(\.location) + links.flatMap { [$0.location, $0.from.location, $0.to.location] }
    for place in places {
        precondition(place.column >= 1 && place.column + place.length <= text.utf8.count + 2)
    }
    for link in links { precondition(!link.from.node.isEmpty && link.to.port != "") }
    return 0
}
