// SPDX-License-Identifier: Apache-2.0
/// What a recording is written to. By one thread at a time.
protocol SampleSink: AnyObject {
    /// Bytes so far.
    var size: Int { get }
    /// Why the last frames were not all taken.
    var fault: String { get }
    /// What the system said to that; 0: nothing.
    var code: Int32 { get }
    /// Marks a frame, if the format can. [worker]
    func mark(_ frame: Int, _ text: String)
    /// Adds interleaved frames; how many were taken. [worker]
    func write(_ samples: UnsafePointer<Float>, _ frames: Int) -> Int
    /// Adds interleaved frames of integers, whose upper bits count; how many were taken. [worker]
    func write(_ integers: [Int32], _ frames: Int) -> Int
    /// Whether the complete file shows when it was saved.
    var saveShows: Bool { get }
    /// Makes what was written outlive the process. [worker]
    func save()
    /// Makes it outlive the machine. [worker]
    func synchronize()
    /// Ends it; what is wrong if that cannot be. [any]
    func close() -> String?
}

extension SampleSink {
    var saveShows: Bool { false }
    var code: Int32 { 0 }
    func mark(_ frame: Int, _ text: String) {}
}
