// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes that this process has from `malloc` and has not freed, as the C library counts them (`malloc_info`); always the
/// same where another allocator is in its place.
public func allocatedBytes() -> Int {
    typealias Info = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let symbol = dlsym(nil, "malloc_info"), let stream = open_memstream(&text, &length) else { return 0 }
    _ = unsafeBitCast(symbol, to: Info.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    // The sums of all arenas come last: what there is, and what of it is free.
    guard let text, let sums = String(cString: text).split(separator: "</heap>").last else { return 0 }
    func size(_ element: Regex<(Substring, Substring)>) -> Int {
        sums.firstMatch(of: element).flatMap { Int($0.1) } ?? 0
    }
    return size(/<system type="current" size="(\d+)"/) + size(/type="mmap" count="\d+" size="(\d+)"/)
        - size(/type="fast" count="\d+" size="(\d+)"/) - size(/type="rest" count="\d+" size="(\d+)"/)
}
