// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit

/// What is played of a file.
struct FilePart {
    /// Seconds of the file; `end` nil: its end.
    var start = 0.0
    var end: Double?
    /// Whether it begins again at the end.
    var loops = false
}

/// A file that is played, read at any place, in the channels of its node. By one thread at a time.
final class PlayedFile {
    let path: String
    let loops: Bool
    let channels: Int
    /// Frames in a second.
    let rate: Double
    /// Frames as its head says, which may be an estimate; nil: it does not say.
    let length: Int64?
    /// Frames that are played: from the first, and up to the one after the last.
    let range: Range<Int64>

    private let file: OpaquePointer
    /// What `file` reads; nil: libsndfile reads the file by itself.
    private let streamed: StreamedWave?
    private let fileChannels: Int
    /// Frames that there are as its head says; 0: nothing that can be relied on.
    private let claimed: Int64
    /// Frames as they come from it, and in the channels of the node.
    private let buffer: UnsafeMutableBufferPointer<Float>
    private let mapped: UnsafeMutableBufferPointer<Float>

    /// Frames that are read at once.
    static let chunk = 4096

    /// Opens it and reads its head; `channels` nil: as many as it has. [control]
    init(path: String, part: FilePart, channels wanted: Int?) throws(NodeError) {
        let hint = "give an audio file that libsndfile knows: WAV, FLAC, OGG, MP3, AIFF, ..."
        var facts = stat()
        // A pipe or a device could keep whoever opens it waiting for ever.
        if stat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG {
            throw NodeError("cannot read \(path): it is not a file", hint: hint, key: File.path.name)
        }
        var info = SF_INFO()
        let head = SoundHead(path: path)
        let isStreamed = head.map { $0.format == .riff && $0.claimed == nil } ?? false
        streamed = isStreamed ? head.flatMap { StreamedWave(path: path, head: $0) } : nil
        guard let file = streamed.map({ $0.open(&info) }) ?? sf_open(path, Int32(SFM_READ), &info) else {
            throw NodeError(
                "cannot read \(path): \(String(cString: sf_strerror(nil)))", hint: hint, key: File.path.name)
        }
        let rate = Double(info.samplerate)
        length = info.frames > 0 && info.frames < Int64(1) << 48 ? info.frames : nil
        do throws(NodeError) { range = try part.frames(of: path, rate, length: length) } catch {
            sf_close(file)
            throw error
        }
        self.path = path
        loops = part.loops && info.frames > 0
        self.file = file
        fileChannels = Int(info.channels)
        channels = wanted ?? fileChannels
        buffer = .allocate(capacity: Self.chunk * fileChannels)
        mapped = .allocate(capacity: Self.chunk * channels)
        self.rate = rate
        // The length of compressed formats other than FLAC may be an estimate.
        let isExact = ![SF_FORMAT_OGG, SF_FORMAT_MPEG].contains(Int(info.format) & Int(SF_FORMAT_TYPEMASK))
        claimed = isExact ? head?.frames(of: length ?? 0, channels: info.channels) ?? length ?? 0 : 0
    }

    deinit {
        buffer.deallocate()
        mapped.deallocate()
        sf_close(file)
    }

    /// What becomes of the file's channels where they are not those of the node; nil: they are.
    var mapping: String? {
        guard channels != fileChannels else { return nil }
        if fileChannels == 1 { return "its one channel is played on all \(channels)" }
        if channels == 1 { return "its \(fileChannels) channels are played as their mean" }
        return channels < fileChannels
            ? "of its \(fileChannels) channels the first \(channels) are played"
            : "it has \(fileChannels) channels; the others of \(channels) are silent"
    }

    /// That less is played than was asked for; nil: it is not.
    var shortage: String? {
        guard claimed > 0, range.upperBound < .max, range.upperBound > claimed else { return nil }
        let (end, length) = (Double(range.upperBound) / rate, Double(claimed) / rate)
        return "end = \(secondsText(end)) s is behind its end; it is \(secondsText(length)) s long"
    }

    /// What the last call of libsndfile has against it.
    private var complaint: String { String(cString: sf_strerror(file)) }

    /// Where reading is.
    struct Turn {
        /// Frames of the file so far, in this turn of the loop.
        var place: Int64
        /// Whether no more comes.
        var isOver = false
        /// Frames of the file since the last jump, or in this turn of the loop.
        var read: Int64 = 0
        /// Why no more comes; nil: it is the end.
        var problem: String?

        /// From a place on.
        init(place: Int64) { self.place = place }

        fileprivate mutating func end(_ problem: String? = nil) { (isOver, self.problem) = (true, problem) }
    }

    /// Goes to a frame, or stays at `place`: then says why.
    func seek(to target: Int64, from place: Int64) -> String? {
        if sf_seek(file, target, Int32(SF_SEEK_SET)) == target { return nil }
        let reason = complaint
        sf_seek(file, place, Int32(SF_SEEK_SET))
        return reason
    }

    /// The next samples in the channels of the node, frame by frame; valid until the next call.
    func read(_ turn: inout Turn) -> UnsafeBufferPointer<Float> {
        let asked = Int(min(Int64(Self.chunk), max(0, range.upperBound - turn.place)))
        let count = asked == 0 ? 0 : max(0, Int(sf_readf_float(file, buffer.baseAddress, sf_count_t(asked))))
        turn.place += Int64(count)
        turn.read += Int64(count)
        if count < Self.chunk { goOn(&turn, count) }
        map(count)
        return UnsafeBufferPointer(rebasing: mapped[..<(count * channels)])
    }

    /// At the end: begins again where it loops.
    private func goOn(_ turn: inout Turn, _ count: Int) {
        if let fault = fault(at: turn.place) {
            turn.end(fault)
        } else if !loops {
            if count == 0 || turn.place >= range.upperBound { turn.end() }
        } else if turn.read == 0 {
            turn.end("nothing comes from it when it is begun again")
        } else if sf_seek(file, range.lowerBound, Int32(SF_SEEK_SET)) >= 0 {
            (turn.place, turn.read) = (range.lowerBound, 0)
        } else {
            turn.end("it cannot be begun again: \(complaint)")
        }
    }

    /// Why no more frames came; nil: it is the end.
    private func fault(at place: Int64) -> String? {
        if sf_error(file) != 0 { return complaint }
        return place < min(claimed, range.upperBound) ? "it ends after \(place) of \(claimed) frames" : nil
    }

    /// The channels of the file as those of the node.
    private func map(_ frames: Int) {
        let (from, to, input, output) = (fileChannels, channels, buffer, mapped)
        for frame in 0..<frames {
            if to == 1, from > 1 {
                var sum: Float = 0
                for channel in 0..<from { sum += input[frame * from + channel] }
                output[frame] = sum / Float(from)
            } else {
                for channel in 0..<to {
                    output[frame * to + channel] =
                        from == 1 ? input[frame] : channel < from ? input[frame * from + channel] : 0
                }
            }
        }
    }
}

extension SoundHead {
    /// Frames that a file was to have of which `there` are there; nil: as many, or it does not say. [control]
    fileprivate func frames(of there: Int64, channels: Int32) -> Int64? {
        guard let claimed, claimed > available, there > 0, available > 0 else { return nil }
        // The last frame of what is there may be cut, too. Of compressed formats a frame is less than a byte.
        let size = available / there
        return size > 0 ? claimed / size : Int64((Double(there) * Double(claimed) / Double(available)).rounded())
    }
}

extension FilePart {
    /// The frames of the file that are played. Throws where there are none; `length` nil: it is not known. [control]
    fileprivate func frames(of path: String, _ rate: Double, length: Int64?) throws(NodeError) -> Range<Int64> {
        let known = length.map { "; it is \(secondsText(Double($0) / rate)) s long" } ?? ""
        let first = Int64((start * rate).rounded())
        if let length, first > 0, first >= length {
            throw NodeError(
                "start = \(secondsText(start)) s is not before the end of \(path)\(known)",
                hint: "let it start earlier", key: File.start.name)
        }
        guard let end else { return first..<Int64.max }
        let last = Int64((end * rate).rounded())
        guard last > first else {
            throw NodeError(
                "nothing of \(path) is from start = \(secondsText(start)) s to end = \(secondsText(end)) s\(known)",
                hint: "let it end later than it starts", key: File.end.name)
        }
        return first..<last
    }
}
