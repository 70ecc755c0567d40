// SPDX-License-Identifier: Apache-2.0
import CLilv

/// The feature by which a plugin asks for larger buffers: `LV2_Resize_Port_Resize`.
///
/// Buffers never move or grow while the plugin lives, since that would take memory on the audio thread. A plugin that
/// asks is told whether its port is that large already; if it is not, it has to do with what there is, as it must where
/// a host cannot give more. Sizes that are needed are written in the plugin's data: those are had from the beginning.
final class PortSizes {
    /// The feature's payload.
    let resize = UnsafeMutablePointer<LV2_Resize_Port_Resize>.allocate(capacity: 1)
    private let table = UnsafeMutablePointer<PortSizeTable>.allocate(capacity: 1)

    init() {
        table.initialize(to: PortSizeTable(bytes: .allocate(capacity: 0), count: 0))
        resize.initialize(to: LV2_Resize_Port_Resize(data: table, resize: resizePort))
    }

    deinit {
        table.pointee.bytes.deallocate()
        table.deallocate()
        resize.deallocate()
    }

    /// What there is: the bytes of each port's buffer, 0 for those whose buffers are the graph's. Call it before the
    /// plugin exists. [control]
    func tell(_ sizes: [Int]) {
        table.pointee.bytes.deallocate()
        table.pointee = PortSizeTable(bytes: .allocate(capacity: sizes.count), count: UInt32(sizes.count))
        for (port, size) in sizes.enumerated() { (table.pointee.bytes + port).initialize(to: size) }
    }
}

/// What `resizePort` looks at.
private struct PortSizeTable: BitwiseCopyable {
    var bytes: UnsafeMutablePointer<Int>
    var count: UInt32
}

/// `LV2_Resize_Port_Resize.resize`. [audio] and every other thread
@_noLocks
private func resizePort(_ data: UnsafeMutableRawPointer?, _ port: UInt32, _ size: Int) -> LV2_Resize_Port_Status {
    guard let table = data?.assumingMemoryBound(to: PortSizeTable.self), port < table.pointee.count,
        size >= 0, size <= table.pointee.bytes[Int(port)]
    else { return LV2_RESIZE_PORT_ERR_NO_SPACE }
    return LV2_RESIZE_PORT_SUCCESS
}
