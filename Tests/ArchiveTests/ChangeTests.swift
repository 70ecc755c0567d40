// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import TestSupport

@testable import Archive

/// Searching, editing and deleting.
@Suite struct ChangeTests {
    private let scratch: Scratch
    private let archive: Archive

    init() throws {
        scratch = try Scratch()
        let telling = Telling(scratch.file("archive.sqlite"))
        for (index, text) in [
            "The quick brown fox", "jumps over the lazy dog", "Où est le café?", "fox and dog",
            "naïve \"quotes\" - AND NOT",
        ].enumerated() {
            telling.text(Int64(index + 1), text, speaker: index % 2 == 0 ? "Anna" : "Bert", time: Double(index))
        }
        telling.end()
        archive = try telling.archive()
    }

    private func found(_ words: String) throws -> [String] { try archive.search(words).map(\.text) }

    @Test(
        "All words must occur; capitals and accents make no difference; quotes and beginnings of words are understood")
    func search() throws {
        #expect(try found("fox") == ["fox and dog", "The quick brown fox"])
        #expect(try found("FOX dog") == ["fox and dog"])
        #expect(try found("cafe ou") == ["Où est le café?"])
        #expect(try found("\"lazy dog\"") == ["jumps over the lazy dog"])
        #expect(try found("\"dog lazy\"") == [])
        #expect(try found("qui*") == ["The quick brown fox"])
        #expect(try found("qui") == [])
        #expect(try archive.search("fox", .init(speaker: "Bert")).map(\.text) == ["fox and dog"])
        #expect(try archive.search("fox", limit: 1).map(\.text) == ["fox and dog"])
    }

    @Test(
        "Words are found in any part of a text that has no blanks between them, in a row, and nowhere else",
        arguments: [
            ("今日の天気はとてもいいです。", ["天気", "今日", "とても", "気", "今日*", "天気は*", "\"天気 は\"", "天気 今日"], ["天日", "気天", "明日"]),
            ("我们明天去公园吧。", ["公园", "我们", "明天 公园", "去公园吧"], ["园公", "公圆"]),
            ("オンライン会議は３時です", ["会議", "ライン", "オンライン会議"], ["議会", "ラン"]),
            (
                "我用iPhone手机听3.5小时的Café音乐。", ["iphone", "手机", "cafe", "iPhone手机", "3.5小时", "iph*", "音乐"],
                ["phone", "听音乐"]
            ),
            ("วันนี้อากาศดีมาก", ["อากาศ", "วันนี้", "ดีมาก", "อากาศดี*"], ["กาดี", "ดิมาก"]),
            ("오늘 날씨가 아주 좋습니다", ["날씨", "날씨가", "좋습", "오늘 날씨", "오*"], ["씨날", "내일"]),
            ("ນີ້ແມ່ນຄຳທົດສອບ", ["ທົດສອບ", "ແມ່ນ"], ["ສອບທົດ"]),
            ("ကျွန်တော်နေကောင်းပါတယ်", ["နေကောင်း"], ["ကောင်းနေ"]),
            ("នេះជាការសាកល្បង", ["សាកល្បង"], ["ល្បងសាក"]), ("𠮷野家で食べる", ["𠮷野", "食べる"], ["野𠮷"]),
            ("आज का दिन अच्छा है", ["दिन", "अच्छा", "अच्*"], ["दीन", "दान"]),
        ])
    func scripts(_ text: String, _ found: [String], _ missed: [String]) throws {
        let telling = Telling(scratch.file("scripts.sqlite"))
        telling.text(1, "The quick brown fox")
        telling.text(2, text)
        telling.text(3, "other words", .partial)
        telling.end()
        let archive = try telling.archive()
        for word in found { #expect(try archive.search(word).map(\.text) == [text], "\(word)") }
        for word in missed { #expect(try archive.search(word).isEmpty, "\(word)") }
        try archive.edit(2, to: "なし")
        for word in found { #expect(try archive.search(word).isEmpty, "\(word)") }
        #expect(try archive.search("なし").map(\.id) == [2])
        try archive.edit(2, to: nil)
        #expect(try archive.search(found[0]).map(\.id) == [2])
    }

    @Test(
        "Whatever is typed is words, and no command of the search",
        arguments: [
            "AND", "NOT quotes", "naive OR", "quotes -", "\"quotes", "shown:quotes*", "(quotes", "quotes^2", "a NEAR b",
            "{shown}", "'; DROP TABLE item", "\"\"\"",
        ])
    func typed(words: String) throws {
        do throws(ArchiveError) { _ = try archive.search(words) } catch { #expect(error.kind == .request) }
        #expect(try archive.items().count == 5)
    }

    @Test("Nothing to search for is said so", arguments: ["", "  ", "*", "\"\"", "- !"])
    func noWord(words: String) throws {
        #expect(throws: ArchiveError(.request, "there is no word to search for")) { try archive.search(words) }
    }

    @Test(
        "V3: an item is edited: what was told stays beside it, the edited text is found, and the edit can be taken back"
    )
    func edit() throws {
        let item = try #require(try archive.items().first)
        try archive.edit(item.id, to: "The quick brown wolf")
        try archive.edit(item.id, to: "The slow brown wolf")
        let edited = try #require(try archive.items(.init(ids: [item.id])).first)
        #expect(edited.text == "The slow brown wolf")
        #expect(edited.original == "The quick brown fox")
        #expect(try found("wolf") == ["The slow brown wolf"])
        #expect(try found("quick") == [])
        #expect(try archive.edits(of: item.id) == ["The quick brown wolf", "The slow brown wolf"])
        try archive.edit(item.id, to: nil)
        #expect(try archive.items(.init(ids: [item.id])) == [item])
        #expect(try found("quick") == ["The quick brown fox"])
    }

    @Test("V3: a text that nobody told is kept as one that was, in a session of its own or in one that there is")
    func added() throws {
        let before = try archive.sessions().count
        let alone = try Archive.add("Remember the milk", speaker: "you", graph: "notes", at: archive.path)
        let session = try #require(try archive.items().first).session
        let more = try Archive.add("and the bread", speaker: "Anna", graph: "notes", to: session, at: archive.path)
        let items = try archive.items(.init(ids: [alone, more]))
        #expect(items.map(\.text) == ["Remember the milk", "and the bread"] && items[1].session == session)
        #expect(
            items.map(\.speaker) == ["you", "Anna"] && items.allSatisfy { $0.state == .whole && $0.end >= $0.start })
        #expect(try archive.sessions().count == before + 1 && found("milk") == ["Remember the milk"])
        let own = try #require(try archive.sessions().last)
        #expect(own.graph == "notes" && own.ended == .ended && own.items == 1)
        for (text, session) in [(" \n", nil), ("x", 9999)] as [(String, Int64?)] {
            #expect(throws: ArchiveError.self) {
                try Archive.add(text, speaker: "you", graph: "notes", to: session, at: archive.path)
            }
        }
        // Where nothing was kept yet there is an archive now.
        let scratch = try Scratch()
        let path = scratch.file("deep/archive.sqlite")
        let first = try Archive.add("the first", speaker: "you", graph: "notes", at: path)
        #expect(try Archive.open(path)?.items(.init(ids: [first])).map(\.text) == ["the first"])
    }

    @Test("A blank text, and an item that there is not, are refused")
    func refused() throws {
        #expect(throws: ArchiveError.self) { try archive.edit(1, to: "  ") }
        #expect(throws: ArchiveError(.request, "there is no item 99")) { try archive.edit(99, to: "x") }
    }

    @Test("V3: items are deleted by selection, the others stay, and a session that has nothing any more goes with them")
    func delete() throws {
        #expect(try archive.delete(.item, .init(ids: [1, 3, 99])) == 2)
        #expect(texts(archive) == ["jumps over the lazy dog", "fox and dog", "naïve \"quotes\" - AND NOT"])
        #expect(try found("quick") == [])
        #expect(try archive.delete(.item, .init(before: 1_700_000_004)) == 2)
        #expect(try archive.sessions().count == 1)
        #expect(try archive.delete(.item, .init()) == 1)
        #expect(try archive.sessions() == [])
    }

    @Test("What is deleted cannot be read in any file of the archive")
    func gone() throws {
        let files = ["", "-wal"].map { archive.path + $0 }
        func holds(_ word: String) -> Bool {
            files.contains { FileManager.default.contents(atPath: $0)?.range(of: Data(word.utf8)) != nil }
        }
        #expect(holds("quick brown"))
        #expect(holds("lazy"))
        try archive.delete(.item, .init(ids: [1]))
        #expect(!holds("quick brown"))
        #expect(!holds("quick"))
        #expect(holds("lazy"))
    }

    @Test("Twenty thousand items are searched")
    func many() throws {
        let telling = Telling(scratch.file("many.sqlite"))
        let words = ["red", "green", "blue", "house", "river", "mountain", "voice", "graph", "evening", "train"]
        let clock = ContinuousClock()
        let writing = clock.measure {
            for item in 0..<20_000 {
                let text = (0..<8).map { words[(item / (1 + $0 * 7) + $0) % words.count] }.joined(separator: " ")
                telling.text(Int64(item + 1), item == 12_345 ? text + " needle" : text, time: Double(item))
            }
            telling.end()
        }
        let archive = try telling.archive()
        #expect(try archive.sessions().first?.items == 20_000)
        var times: [String: Double] = [:]
        for (name, query) in [("rare", "needle"), ("common", "red"), ("two", "river mountain"), ("beginning", "ev*")] {
            var count = 0
            let time = try clock.measure { count = try archive.search(query).count }
            #expect(count == (name == "rare" ? 1 : 50))
            times[name] = Double(time.components.attoseconds) * 1e-15 + Double(time.components.seconds) * 1e3
        }
        let shown = times.sorted { $0.key < $1.key }.map { "\($0.key) \(($0.value * 10).rounded() / 10) ms" }
        print("figure: 20000 items written in \(writing); searched: \(shown.joined(separator: ", "))")
    }
}
