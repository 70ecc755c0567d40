// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@Suite("Shared objects that are loaded when they are needed") struct LibraryTests {
    @Test("A function is found by its name, in the first library that is there")
    func function() throws {
        let library = try Library(["libvg-none.so.1", "libm.so.6"], package: "libc6")
        let root: @convention(c) (Double) -> Double = try library.function("sqrt")
        #expect(root(9) == 3)
        #expect(library.address(of: "vg_none") == nil)
        #expect(throws: Fault("libm.so.6 has no function vg_none")) {
            try library.function("vg_none", as: (@convention(c) () -> Void).self)
        }
        library.close()
    }

    @Test("What is not there is told in the loader's words, with the package that has it")
    func missing() {
        let reason = "libvg-none.so.1: cannot open shared object file: No such file or directory"
        #expect(throws: Fault(reason)) { try Library("libvg-none.so.1") }
        #expect(throws: Fault("cannot load libvg-none.so.1: \(reason)", hint: "apt install vg")) {
            try Library(["libvg-none.so.1"], package: "vg")
        }
    }
}
