// SPDX-License-Identifier: Apache-2.0
import CNode
import Synchronization
import Testing

@testable import NodeKit

/// A host of any version, without what came to the contract later.
@Suite struct HostExtensionTests {
    @Test("A host without extensions answers 'not here', and so does one that has no function for them")
    func bareHost() {
        var host = vg_host()
        host.size = UInt32(MemoryLayout<vg_host>.size)
        check(&host)
        host.extension = { _, _ in nil }
        check(&host)
    }

    private func check(_ host: inout vg_host) {
        withUnsafePointer(to: host) { pointer in
            let node = NodeHost(pointer)
            #expect(!node.send(.text("to nobody")))
            #expect(node.wantedSeries == .max && node.wants(series: 70))
            #expect(node.actions(of: "other") == nil)
            node.publish([[1]], at: 0)
            node.publish(audio: vg_audio())
            let answer = Mutex<CallResult?>(nil)
            node.call("other", "stop") { result in answer.withLock { $0 = result } }
            guard case .failure(let error)? = answer.withLock({ $0 }) else {
                Issue.record("a call of an action ends though nobody does it")
                return
            }
            #expect(error.message == "actions of other nodes are not available here")
        }
    }

    @Test("A table that the host has is used; a name that it does not know is none") func table() {
        var host = vg_host()
        host.size = UInt32(MemoryLayout<vg_host>.size)
        host.extension = { _, name in
            guard let name, String(cString: name) == VG_EXT_SERIES else { return nil }
            return UnsafeRawPointer(seriesTable.pointer)
        }
        withUnsafePointer(to: host) { pointer in
            let node = NodeHost(pointer)
            #expect(node.wantedSeries == 5)
            #expect(node.wants(series: 2) && !node.wants(series: 1))
            #expect(!node.send(.text("to nobody")))
        }
    }
}

private struct SeriesTable: @unchecked Sendable {
    // Sendable: it never changes.
    let pointer: UnsafeMutablePointer<vg_host_series>
    init() {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: vg_host_series(publish: nil) { _ in 5 })
    }
}

private let seriesTable = SeriesTable()
