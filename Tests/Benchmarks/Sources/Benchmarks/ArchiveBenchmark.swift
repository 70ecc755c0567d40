// SPDX-License-Identifier: Apache-2.0
import Archive
import Glibc
import Host
import NodeKit

/// 100 000 items: how long it takes to keep them, and to find some.
func archiveBenchmark(_ effort: Effort) throws -> [Row] {
    let count = 100_000
    let scratch = try Scratch()
    let path = try scratch.file("archive.sqlite", "")
    progress("archive: \(count) items")
    let bus = EventBus()
    let writer = ArchiveWriter(
        bus.subscribe(.lossless, where: ArchiveWriter.wants), session: .init(graph: "vg-archive", file: nil), path: path
    ) { bus.tell($0, $1) }
    let words = ["red", "green", "blue", "house", "river", "mountain", "voice", "graph", "evening", "train"]
    let writing = nanoseconds {
        for item in 0..<count {
            let text = (0..<8).map { words[(item / (1 + $0 * 7) + $0) % words.count] }.joined(separator: " ")
            var event = Event(
                "vg.text", node: "text", time: Double(item), wallTime: 1_700_000_000 + Double(item),
                fields: [
                    "item": .integer(Int64(item + 1)), "text": .string(item == count / 2 ? text + " needle" : text),
                ])
            event.keeping = .init(.text(.whole), speaker: "you")
            bus.publish(.event(event))
        }
        writer.finish()
    }
    guard let archive = try Archive.open(path) else { throw BenchmarkError("nothing was kept") }
    var file = stat()
    stat(path, &file)
    let items = "\(count) items"
    var rows = [
        Row("\(items): kept", "archive", [Double(count) / (writing / 1e9)], "a second"),
        Row("\(items): on disk", "archive", [Double(file.st_size) / Double(count)], "bytes each"),
    ]
    for (name, query) in [
        ("one word that occurs once", "needle"), ("one word that is everywhere", "red"),
        ("two words", "river mountain"),
        ("the beginning of one", "ev*"),
    ] {
        let times = try (0..<effort.repetitions).map { _ in
            try nanoseconds {
                if try archive.search(query).isEmpty { throw BenchmarkError("\(query) is not found") }
            } / 1e6
        }
        let row = Row("\(items): search for \(name)", "archive", times, "ms")
        rows.append(row.aiming("< 50", row.value.median < 50))
    }
    return rows
}
