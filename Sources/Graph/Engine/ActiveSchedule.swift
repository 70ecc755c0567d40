// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// The schedule of this cycle, as a driver sees it.
public struct ActiveSchedule: BitwiseCopyable {
    let header: UnsafeMutablePointer<ScheduleHeader>

    @_noLocks
    init(header: UnsafeMutablePointer<ScheduleHeader>) { self.header = header }

    /// The driver's ports in it. [audio]
    public var externalCount: Int { @_noLocks get { header.pointee.externalCount } }

    /// The longest block it can run, in frames. [audio]
    public var maxBlock: Int { @_noLocks get { header.pointee.maxBlock } }

    /// What the driver returned for port `index`. [audio]
    @_noLocks
    public func handle(_ index: Int) -> UnsafeMutableRawPointer? { header.pointee.externals[index].handle }

    /// Whether the driver fills port `index`. [audio]
    @_noLocks
    public func isCapture(_ index: Int) -> Bool { header.pointee.externals[index].isCapture }

    /// Whether port `index` carries MIDI. [audio]
    @_noLocks
    public func isMIDI(_ index: Int) -> Bool { header.pointee.externals[index].midi != nil }

    /// The driver's buffer for audio port `index` in this cycle. [audio]
    @_noLocks
    public func bind(_ index: Int, _ buffer: UnsafeMutablePointer<Float>) {
        let slot = header.pointee.externals + index
        if slot.pointee.bound == buffer { return }
        slot.pointee.bound = buffer
        header.pointee.boundAnew = true
        for follower in 0..<slot.pointee.followerCount { slot.pointee.followers[follower].pointee = buffer }
    }

    /// The events of MIDI port `index`: the driver fills them before `run` or takes them after it. [audio]
    @_noLocks
    public func midi(_ index: Int) -> UnsafeMutablePointer<vg_midi> {
        header.pointee.externals[index].midi.unsafelyUnwrapped
    }

    /// Gives the driver nothing. [audio]
    @_noLocks
    func silence(_ frames: Int) {
        for index in 0..<externalCount where !isCapture(index) {
            if isMIDI(index) {
                midi(index).pointee.count = 0
                midi(index).pointee.used = 0
            } else if let buffer = header.pointee.externals[index].bound {
                vg_zero(buffer, UInt32(truncatingIfNeeded: frames))
            }
        }
    }
}
