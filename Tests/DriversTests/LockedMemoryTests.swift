// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Foundation
import Glibc
import System
import TestSupport

@testable import Drivers

/// Whether the kernel keeps the pages of the mapping that an address lies in.
private func isLocked(_ address: UInt) -> Bool {
    var isInside = false
    for line in contents("/proc/self/smaps").split(separator: "\n") {
        let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
        if ends.count == 2 { isInside = ends[0] <= address && address < ends[1] }
        if isInside, line.hasPrefix("VmFlags:") { return line.split(separator: " ").contains("lo") }
    }
    return false
}

/// What the kernel says of this process.
private func status(_ key: String) throws -> String {
    let lines = contents("/proc/self/status").split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix(key + ":") })
    return line.dropFirst(key.count + 1).trimmingCharacters(in: .whitespaces)
}

/// Where code of this process lies.
private var ownCode: UInt {
    let code: @convention(c) () -> Void = vg_lock_memory
    return UInt(bitPattern: unsafeBitCast(code, to: Int.self))
}

/// What realtime threads may touch stays in memory.
@Suite(
    .serialized,
    .enabled(if: Scheduling(thread: 0).lockableMemory == nil, "only who may lock any memory can tell"))
struct LockedMemoryTests {
    @Test("What is in memory is locked, what is made later with the next call, and nothing is read in for that")
    func update() throws {
        defer { vg_unlock_memory() }
        let pages = 1024
        // Mappings of their own, of which every second page is touched.
        func made() throws -> UnsafeMutableRawPointer {
            let memory = mmap(nil, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            let start = try #require(memory != MAP_FAILED ? memory : nil)
            for page in stride(from: 0, to: pages, by: 2) {
                start.storeBytes(of: 1, toByteOffset: page * 4096, as: UInt8.self)
            }
            return start
        }
        let first = try made()
        defer { munmap(first, pages * 4096) }
        #expect(!isLocked(UInt(bitPattern: first)))
        LockedMemory.update()
        let present = Int(LockedMemory.figures.present)
        #expect(isLocked(UInt(bitPattern: first)))
        #expect(present >= pages / 2 * 4096 && present < Int(LockedMemory.figures.mapped))
        var found = [UInt8](repeating: 0, count: pages)
        #expect(mincore(first, pages * 4096, &found) == 0)
        #expect(found.count { $0 & 1 == 1 } == pages / 2)
        // So is the code.
        #expect(isLocked(ownCode))
        let second = try made()
        defer { munmap(second, pages * 4096) }
        LockedMemory.update()
        #expect(isLocked(UInt(bitPattern: second)))
        #expect(Int(LockedMemory.figures.present) >= present)
    }

    @Test("Code that was read is given back, but none that is locked, and what was written stays")
    func release() throws {
        /// Bytes of files' pages that this process has in memory, its own copies not counted.
        func read() throws -> Int {
            let line = try status("RssFile").split(separator: " ")
            return try #require(Int(line[0])) * 1024
        }
        let (before, regex) = (try read(), try Regex("[a-c]+"))
        LockedMemory.releaseCode()
        let after = try read()
        #expect(after < before / 2)
        // Nothing of it is gone: relocations are read by every call.
        #expect(try regex.wholeMatch(in: "abc") != nil && "\(Date(timeIntervalSince1970: 0))".hasPrefix("1970"))
        defer { vg_unlock_memory() }
        LockedMemory.update()
        let locked = try read()
        LockedMemory.releaseCode()
        // What the kernel says is off by some pages for each processor.
        #expect(try read() > locked / 4 * 3)
    }

    @Test("Libraries may be loaded and unloaded meanwhile", .timeLimit(.minutes(2)))
    func loading() throws {
        let isOver = Wakeup()
        let loads = try SystemThread(name: "loads") {
            for _ in 0..<300 {
                // Whichever of them are here, and are not in use.
                for name in ["libsoxr.so.0", "libkissfft-float.so.131", "libasound.so.2", "libvorbisenc.so.2"] {
                    if let library = dlopen(name, RTLD_NOW) { dlclose(library) }
                }
            }
            isOver.signal()
        }
        while !isOver.wait(milliseconds: 0) { LockedMemory.releaseCode() }
        loads.join()
    }

    @Test("Addresses that are only reserved are left alone, and a sum that the kernel got wrong is no figure")
    func reserved() throws {
        defer { vg_unlock_memory() }
        // As many as the shadow of an address sanitizer has: 14 TiB.
        let size = 14 << 40
        let noReserve: Int32 = 0x4000
        let memory = mmap(
            nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | noReserve, -1, 0)
        let start = try #require(memory != MAP_FAILED ? memory : nil)
        defer { munmap(start, size) }
        LockedMemory.update()
        #expect(!isLocked(UInt(bitPattern: start)) && isLocked(ownCode))
        #expect(Int(LockedMemory.figures.mapped) < size)
        // What Linux 6.18 said of them, locked.
        let scratch = try Scratch()
        for (text, bytes) in [("18446744071562312184", 0), ("-2", 0), ("72", 73728)] {
            let status = try scratch.write("status", "VmPin:\t5 kB\nVmLck:\t\(text) kB\n")
            #expect(Scheduling.readLockedBytes(in: status) == bytes)
        }
    }

    @Test("The stack of a thread that asks for it is locked, and no other's")
    func stacks() throws {
        defer { vg_unlock_memory() }
        let (ready, over) = (Wakeup(), Wakeup())
        let places = Lock<[UInt]>([])
        @Sendable func stay(_ prepare: () -> Void) {
            prepare()
            places.withLock { $0.append(UInt(bitPattern: vg_stack_place())) }
            ready.signal()
            _ = over.wait(milliseconds: 60_000)
            over.signal()
        }
        let audio = try SystemThread(name: "audio") { stay { vg_lock_stack() } }
        _ = ready.wait(milliseconds: 60_000)
        let other = try SystemThread(name: "other") { stay {} }
        _ = ready.wait(milliseconds: 60_000)
        LockedMemory.update()
        let found = places.withLock { $0 }.map(isLocked)
        over.signal()
        audio.join()
        other.join()
        #expect(found == [true, false])
    }
}

extension JackDriverTests {
    @Test(
        "What a client of a realtime server plays with stays in memory",
        .enabled(if: Scheduling.isPermitted(priority: 70) && Scheduling(thread: 0).lockableMemory == nil))
    func lockedMemory() async throws {
        let turn = try await JackTurn.wait()
        let driver = try await chosen(DriverRequest(kind: .dummy, server: "vgt-own"))
        vg_unlock_memory()
        defer { vg_unlock_memory() }
        #expect(!isLocked(ownCode))
        let through = try PassThrough(driver, channels: 1)
        #expect(isLocked(ownCode))
        through.stop()
        turn.end()
    }
}
