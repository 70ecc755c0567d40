// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A file that is being recorded to. By one thread at a time.
final class TakeFile: @unchecked Sendable {
    // Sendable: it is handed from one thread to the next, and used by one at a time.

    /// What it is, or is to be, called when it is complete.
    var path: String { name?.final ?? place }
    /// What it is called now.
    private(set) var place: String
    /// The file that holds what there is while it is not complete; nil: it is written to in place, as a device is.
    var part: String? { name?.isPart == true ? place : nil }
    /// Hz.
    let rate: Double
    /// In the file so far.
    private(set) var frames = 0
    /// Of what was written.
    let levels: TakeLevels
    private let channels: Int
    /// Nil: it is a stream, which has one name.
    private var name: TakeName?
    private var dither: Dither?
    private let sink: any SampleSink
    private var isOpen = true
    private var reshape: Reshape
    private let inputChannels: Int
    private let subscribers: TakeAudio?
    /// Frames that are still to be left out.
    private var skip: Int
    private let hold: Int
    /// Samples that are kept back: from `heldStart` on.
    private var held: [Float] = []
    private var heldStart = 0

    /// Makes the file: a new one, unless what is there may be overwritten and is none of `finished`. `channels` and `rate`:
    /// of the audio. [control]
    init(
        _ target: RecordTarget, channels: Int, rate: Double, overwrites: Bool, keeping finished: Set<String>,
        subscribers: TakeAudio?, isOffline: Bool, host: NodeHost
    ) throws(NodeError) {
        self.subscribers = subscribers
        let own = target.encoding.rate(rate, target.rate)
        self.rate = own
        inputChannels = channels
        self.channels = target.channels ?? channels
        reshape = try Reshape(rate: rate, channels: channels, fileRate: own, fileChannels: self.channels)
        skip = target.skip
        hold = target.hold
        levels = TakeLevels(channels: self.channels, rate: own, isOffline: isOffline)
        dither = target.encoding.bits.map { [channels = self.channels] in
            Dither(target.encoding.dither, bits: $0, channels: channels)
        }
        if let stream = target.stream {
            place = target.template
            sink = try WaveStream(stream, bits: target.encoding.bits, channels: self.channels, rate: own)
            return
        }
        let now = time(nil)
        let path = target.path(now: now)
        let (name, descriptor) = TakeName.claim(path, overwrites: overwrites && !finished.contains(path)) {
            host.log(VG_LOG_INFO, "\($0) is being recorded, so that it is kept")
        }
        if descriptor < 0 { throw RecordFault.cannotRecord(name.part, errno) }
        do throws(NodeError) {
            sink = try target.encoding.sink(
                TakeOutput(descriptor), channels: self.channels, rate: own, stamp: target.isStamped ? now : nil)
        } catch {
            name.remove()
            throw NodeError("cannot record to \(name.part): \(error.message)")
        }
        place = name.part
        self.name = name
        save()
    }

    deinit { _ = close() }

    /// Samples beyond full scale, which are integers now.
    var clipped: Int { dither?.clipped ?? 0 }

    /// Bytes on disk.
    var size: Int { sink.size }

    /// Takes audio of another rate from now on; the file's stays. What is wrong if that cannot be. [control]
    func take(rate: Double) -> String? {
        if rate == reshape.rate { return nil }
        let rest = reshape.end()
        do throws(NodeError) {
            reshape = try Reshape(rate: rate, channels: inputChannels, fileRate: self.rate, fileChannels: channels)
        } catch { return error.message }
        return rest.withUnsafeBufferPointer { keep($0.baseAddress, rest.count / channels) }
    }

    /// Adds interleaved frames of the audio; what is wrong if not all were taken. [worker]
    func write(_ samples: UnsafePointer<Float>, _ count: Int) -> String? {
        let skipped = min(skip, count)
        skip -= skipped
        let (fresh, frames) = (samples + skipped * inputChannels, count - skipped)
        if reshape.isNothing { return keep(fresh, frames) }
        let shaped = reshape.process(UnsafeBufferPointer(start: fresh, count: frames * inputChannels))
        return shaped.withUnsafeBufferPointer { keep($0.baseAddress, shaped.count / channels) }
    }

    /// Writes frames of the file, or keeps them back.
    private func keep(_ samples: UnsafePointer<Float>?, _ frames: Int) -> String? {
        guard let samples, frames > 0 else { return nil }
        subscribers?.add(samples, frames, channels: channels, rate: rate)
        if hold == 0 { return store(samples, frames) }
        held += UnsafeBufferPointer(start: samples, count: frames * channels)
        let ready = (held.count - heldStart) / channels - hold
        if ready <= 0 { return nil }
        defer {
            heldStart += ready * channels
            // Moved to the front now and then, not at each call.
            if heldStart > max(held.count / 2, 65_536) {
                held.removeFirst(heldStart)
                heldStart = 0
            }
        }
        return held.withUnsafeBufferPointer { store($0.baseAddress! + heldStart, ready) }
    }

    /// Writes what was kept back, up to `frames` in all; nil: all of it. What is wrong if that cannot be. [control]
    func release(upTo total: Int?) -> String? {
        let rest = reshape.end()
        if let fault = rest.withUnsafeBufferPointer({ keep($0.baseAddress, rest.count / channels) }) { return fault }
        let waiting = (held.count - heldStart) / channels
        let count = min(waiting, max(0, (total ?? .max) - frames))
        defer { (held, heldStart) = ([], 0) }
        return count == 0 ? nil : held.withUnsafeBufferPointer { store($0.baseAddress! + heldStart, count) }
    }

    private func store(_ samples: UnsafePointer<Float>, _ count: Int) -> String? {
        levels.add(samples, count)
        let written =
            dither == nil
            ? sink.write(samples, count)
            : sink.write(dither!.integers(UnsafeBufferPointer(start: samples, count: count * channels)), count)
        frames += max(written, 0)
        return written < count ? sink.fault : nil
    }

    /// Whether the complete file shows when it was saved.
    var saveShows: Bool { sink.saveShows }

    /// The frame of the file that comes next, with those that are kept back.
    var end: Int { frames + (held.count - heldStart) / channels }

    /// Of the system, of what it refused; 0: nothing.
    var code: Int32 { sink.code }

    /// Marks what comes next, if the format can. [worker]
    func mark(_ text: String) { sink.mark(end, text) }

    /// Makes what was written outlive the process. [worker]
    func save() { sink.save() }

    /// Makes it outlive the machine. [worker]
    func synchronize() { sink.synchronize() }

    /// Completes the file and gives it its name; what is wrong if that cannot be. [control]
    func complete() -> String? {
        if let fault = close() { return fault }
        if let fault = name?.complete() { return "it is called \(place): \(fault)" }
        place = path
        return nil
    }

    /// Ends the file as it is, under the name that it has. What is wrong if that cannot be. [any]
    func close() -> String? {
        guard isOpen else { return nil }
        isOpen = false
        return sink.close()
    }

    /// Throws the file away. [control]
    func remove() {
        _ = close()
        name?.remove()
    }
}
