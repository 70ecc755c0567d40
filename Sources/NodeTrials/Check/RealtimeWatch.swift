// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// What `libvoicegraph-realtime.so` saw, where it was loaded into this process before everything else.
enum RealtimeWatch {
    /// How many different things it saw so far; nil: it is not here.
    static var count: Int? {
        let count = vg_realtime_watched()
        return count < 0 ? nil : Int(count)
    }

    /// What it saw after the first `count`, in words: "malloc, called by process in libvg-sparkle.so".
    static func findings(since count: Int) -> [String] {
        guard let total = self.count else { return [] }
        var known: Set<String> = []
        return (count..<max(count, total)).compactMap { index in
            vg_realtime_watch_text(Int32(index)).map { readable(String(cString: $0)) }
        }.filter { known.insert($0).inserted }
    }

    /// With the names of Swift's functions as they are written.
    private static func readable(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.hasPrefix("$s") ? demangled(String(word)) : String(word)
        }.joined(separator: " ")
    }

    private typealias Demangle =
        @convention(c) (
            UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
        ) -> UnsafeMutablePointer<CChar>?

    private static func demangled(_ name: String) -> String {
        guard let symbol = dlsym(nil, "swift_demangle") else { return name }
        let demangle = unsafeBitCast(symbol, to: Demangle.self)
        guard let text = demangle(name, name.utf8.count, nil, nil, 0) else { return name }
        defer { free(text) }
        return String(cString: text)
    }
}
