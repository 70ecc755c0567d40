// SPDX-License-Identifier: Apache-2.0
import CLilv
import NodeKit
import Synchronization

/// What one plugin writes to its log. Any thread may write, `run` included: nothing waits. While another thread
/// writes, or when 16 KiB wait to be read, a line is lost and counted.
final class PluginLog: @unchecked Sendable {
    // Sendable: `busy` admits one writer at a time, `drain` is called by one thread at a time.

    /// The log feature's payload.
    let feature = UnsafeMutablePointer<vg_lv2_log>.allocate(capacity: 1)
    private let lines = PacketRing(capacity: 1 << 14)
    private let busy = Atomic(false)
    private let lost = Atomic(0)
    private let urids: URIDs

    init(_ urids: URIDs) {
        self.urids = urids
        let write: vg_lv2_log_write = { handle, type, text, length in
            Unmanaged<PluginLog>.fromOpaque(handle)._withUnsafeGuaranteedRef { $0.write(type, text, Int(length)) }
        }
        vg_lv2_log_init(feature, write, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { feature.deallocate() }

    private func write(_ type: LV2_URID, _ text: UnsafePointer<CChar>, _ length: Int) {
        guard !busy.exchange(true, ordering: .acquiring) else {
            lost.add(1, ordering: .relaxed)
            return
        }
        if !lines.ends.push(text, size: length, tag: type) { lost.add(1, ordering: .relaxed) }
        busy.store(false, ordering: .releasing)
    }

    /// Hands every waiting line to `take`. [control]
    func drain(_ take: (vg_log_level, String) -> Void) {
        guard !lines.ends.isEmpty else { return }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: lines.ends.largest, alignment: 8)
        defer { buffer.deallocate() }
        while let (size, type) = lines.ends.pop(into: buffer) {
            var text = String(decoding: UnsafeRawBufferPointer(start: buffer, count: size), as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
            if !text.isEmpty { take(level(type), text) }
        }
        let dropped = lost.exchange(0, ordering: .relaxed)
        if dropped > 0 { take(VG_LOG_WARNING, "\(dropped) lines of the plugin's log were lost") }
    }

    private func level(_ type: LV2_URID) -> vg_log_level {
        switch type {
        case urids.logError: VG_LOG_ERROR
        case urids.logWarning: VG_LOG_WARNING
        case urids.logTrace: VG_LOG_DEBUG
        default: VG_LOG_INFO
        }
    }
}
