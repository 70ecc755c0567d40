// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

@testable import System

@Suite struct FreeMemoryTests {
    @Test("It is what the kernel says, or less where a group of the process may have less") func groups() throws {
        let scratch = try Scratch()
        let folder = scratch.path
        #expect(freeMemory(processes: folder, groups: folder) == nil)
        _ = try scratch.write("meminfo", "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    4096 kB\n")
        #expect(freeMemory(processes: folder, groups: folder) == 4 << 20)
        for name in ["self", "a", "a/b"] { #expect(mkdir(scratch.file(name), 0o700) == 0) }
        _ = try scratch.write("self/cgroup", "1:name=old:/x\n0::/a/b\n")
        _ = try scratch.write("a/b/memory.max", "max\n")
        _ = try scratch.write("a/b/memory.current", "100\n")
        #expect(freeMemory(processes: folder, groups: folder) == 4 << 20)
        _ = try scratch.write("a/memory.max", "3000000\n")
        _ = try scratch.write("a/memory.current", "1000000\n")
        #expect(freeMemory(processes: folder, groups: folder) == 2_000_000)
        _ = try scratch.write("a/memory.current", "3000001\n")
        #expect(freeMemory(processes: folder, groups: folder) == 0)
    }

    @Test("Here there is some, and less than the machine has") func here() throws {
        let free = try #require(freeMemory())
        #expect(free > 1 << 20 && free < sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)))
    }
}
