// SPDX-License-Identifier: Apache-2.0

/// What a buffer of MIDI holds for a block: what a port's buffer of JACK does, which is as large as one for 8192 samples and
/// takes at least 16 bytes for each event.
public enum MIDILimits {
    /// Events.
    public static var events: Int { @_noLocks @inline(__always) get { 2048 } }
    /// Bytes of all events together, and so of the longest system exclusive message.
    public static var bytes: Int { @_noLocks @inline(__always) get { 32768 } }
}
