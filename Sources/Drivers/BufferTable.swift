// SPDX-License-Identifier: Apache-2.0
import CNode
import Graph
import Realtime
import System

/// A MIDI event in a block.
public struct MIDIEvent: Sendable, Equatable {
    /// Offset in the block.
    public var frame: Int
    /// The message, complete.
    public var bytes: [UInt8]

    /// Describes an event.
    public init(frame: Int, bytes: [UInt8]) {
        self.frame = frame
        self.bytes = bytes
    }
}

/// A port without a server. Its address is what a schedule holds as the port's handle.
struct BufferSlot {
    let port: ExternalPort
    /// One block.
    let audio: UnsafeMutableBufferPointer<Float>
    /// What a capture port gives in the next cycle, or a playback port got in the last one. Offline only.
    var events: [MIDIEvent] = []
}

/// The ports of a driver without a server, by name.
final class BufferTable: @unchecked Sendable {
    // Sendable: `lock` guards the dictionary; the slots belong to the thread that runs the cycle.
    private let lock = Monitor()
    private var slots: [String: UnsafeMutablePointer<BufferSlot>] = [:]

    deinit { for slot in slots.values { Self.free(slot) } }

    /// The port's slot, made with `frames` samples or found. [control]
    func place(_ port: ExternalPort, frames: Int) -> UnsafeMutableRawPointer {
        lock.locked {
            if let slot = slots[port.name] {
                let old = slot.pointee.port
                if old.isCapture == port.isCapture, old.isMIDI == port.isMIDI {
                    return UnsafeMutableRawPointer(slot)
                }
                Self.free(slot)
            }
            let audio = UnsafeMutableBufferPointer<Float>.allocate(capacity: frames)
            audio.initialize(repeating: 0)
            let slot = UnsafeMutablePointer<BufferSlot>.allocate(capacity: 1)
            slot.initialize(to: BufferSlot(port: port, audio: audio))
            slots[port.name] = slot
            return UnsafeMutableRawPointer(slot)
        }
    }

    /// Forgets a port; no schedule uses it any more. [control]
    func remove(_ port: ExternalPort) {
        lock.locked { if let slot = slots.removeValue(forKey: port.name) { Self.free(slot) } }
    }

    /// The slot of the port `name`. [control]
    subscript(name: String) -> UnsafeMutablePointer<BufferSlot>? { lock.locked { slots[name] } }

    private static func free(_ slot: UnsafeMutablePointer<BufferSlot>) {
        slot.pointee.audio.deallocate()
        slot.deinitialize(count: 1)
        slot.deallocate()
    }
}
