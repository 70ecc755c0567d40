// SPDX-License-Identifier: Apache-2.0
import CNode
import Glibc

// Structs of node.h grow at their ends: what an author did not know yet is read as zero.

/// A struct as this version knows it, of which `size` bytes are there. An author who forgot to say so has all of it. [any]
public func known<Struct: BitwiseCopyable>(_ pointer: UnsafePointer<Struct>, size: UInt32) -> Struct {
    copy(pointer, known: size == 0 ? .max : Int(size))
}

/// The elements of a list in C, each as this version knows it. Empty when the list makes no sense. [any]
public func elements<Element: BitwiseCopyable>(of list: vg_list, as type: Element.Type) -> [Element] {
    copies(of: list, as: type)
}

/// The same of structs in C of which a generic type does not know that they can be copied byte by byte.
func copies<Element>(of list: vg_list, as type: Element.Type) -> [Element] {
    guard let items = list.items, list.count > 0, list.size > 0 else { return [] }
    return (0..<Int(list.count)).map { copy(items + $0 * Int(list.size), known: Int(list.size)) }
}

private func copy<Struct>(_ pointer: UnsafeRawPointer, known size: Int) -> Struct {
    withUnsafeTemporaryAllocation(of: Struct.self, capacity: 1) { memory in
        let bytes = UnsafeMutableRawBufferPointer(memory)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        // In bounds: at most the size of either.
        memcpy(bytes.baseAddress!, pointer, min(size, bytes.count))
        return memory[0]
    }
}
