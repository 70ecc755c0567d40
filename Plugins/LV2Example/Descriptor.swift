// SPDX-License-Identifier: Apache-2.0
import CLV2

/// What the host calls, as C wants it. Everything but `run` is called while the plugin does not run.
extension Warmth {
    /// Must be the URI of manifest.ttl.
    private static let uri: StaticString = "urn:voicegraph:lv2:warmth"

    /// Made at the first call and never freed.
    nonisolated(unsafe) private static var made: UnsafePointer<LV2_Descriptor>?

    /// [control]
    static func descriptor() -> UnsafePointer<LV2_Descriptor> {
        if let made { return made }
        let descriptor = UnsafeMutablePointer<LV2_Descriptor>.allocate(capacity: 1)
        descriptor.initialize(
            to: LV2_Descriptor(
                URI: UnsafeRawPointer(uri.utf8Start).assumingMemoryBound(to: CChar.self),
                instantiate: { _, rate, _, _ in
                    let warmth = UnsafeMutablePointer<Warmth>.allocate(capacity: 1)
                    warmth.initialize(to: Warmth(rate: rate))
                    return UnsafeMutableRawPointer(warmth)
                },
                connect_port: { handle, port, memory in
                    guard let warmth = instance(handle), let port = Port(rawValue: port) else { return }
                    switch port {
                    case .drive: warmth.pointee.drive = values(memory)
                    case .level: warmth.pointee.level = values(memory)
                    case .enabled: warmth.pointee.enabled = values(memory)
                    case .input: warmth.pointee.input = values(memory)
                    case .output: warmth.pointee.output = memory?.assumingMemoryBound(to: Float.self)
                    }
                },
                activate: { handle in instance(handle)?.pointee.wet = -1 },
                run: { handle, frames in
                    guard let warmth = instance(handle) else { return }
                    warmthRun(warmth, frames)
                },
                deactivate: nil,
                cleanup: { handle in instance(handle)?.deallocate() },
                extension_data: nil))
        made = UnsafePointer(descriptor)
        return UnsafePointer(descriptor)
    }
}

private func instance(_ handle: LV2_Handle?) -> UnsafeMutablePointer<Warmth>? {
    handle?.assumingMemoryBound(to: Warmth.self)
}

private func values(_ memory: UnsafeMutableRawPointer?) -> UnsafePointer<Float>? {
    UnsafePointer(memory?.assumingMemoryBound(to: Float.self))
}

/// The one symbol that LV2 hosts look for. [control]
@c(lv2_descriptor) public func lv2Descriptor(_ index: UInt32) -> UnsafePointer<LV2_Descriptor>? {
    index == 0 ? Warmth.descriptor() : nil
}
