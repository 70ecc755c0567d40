// SPDX-License-Identifier: Apache-2.0
import CVorbis
import NodeKit

/// A file of Ogg Vorbis. libsndfile writes one too, but keeps what belongs to a page until the page is full: of silence that
/// is half a minute, which a crash would cost. Here a page ends whenever the recording is saved.
final class VorbisSink: SampleSink {
    private let output: TakeOutput
    private let channels: Int
    // They refer to each other, and so stay where they are.
    private let info = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
    private let coder = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
    private let block = UnsafeMutablePointer<vorbis_block>.allocate(capacity: 1)
    private let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)

    /// Frames that the encoder was not given yet, interleaved.
    private var waiting: [Float] = []
    private static let chunk = 1024

    /// Begins a file. `quality`: 0 to 1. `serial`: tells the stream from others, should files be joined. [control]
    init(_ output: TakeOutput, channels: Int, rate: Double, quality: Double, serial: Int32) throws(NodeError) {
        self.output = output
        self.channels = channels
        vorbis_info_init(info)
        guard vorbis_encode_init_vbr(info, channels, Int(rate), Float(quality)) == 0 else {
            vorbis_info_clear(info)
            for memory in [UnsafeMutableRawPointer(info), .init(coder), .init(block), .init(stream)] {
                memory.deallocate()
            }
            throw NodeError(
                "Vorbis has no \(channels) channels at \(Int(rate)) Hz", hint: "use .flac", key: Record.path.name)
        }
        vorbis_analysis_init(coder, info)
        vorbis_block_init(coder, block)
        ogg_stream_init(stream, serial)
        writeHead()
    }

    deinit {
        ogg_stream_clear(stream)
        vorbis_block_clear(block)
        vorbis_dsp_clear(coder)
        vorbis_info_clear(info)
        stream.deallocate()
        block.deallocate()
        coder.deallocate()
        info.deallocate()
    }

    /// Three packets, after which the first sound begins on a page of its own (Vorbis I specification, A.2).
    private func writeHead() {
        var comment = vorbis_comment()
        vorbis_comment_init(&comment)
        vorbis_comment_add_tag(&comment, "ENCODER", "voicegraph")
        var packets = (ogg_packet(), ogg_packet(), ogg_packet())
        vorbis_analysis_headerout(coder, &comment, &packets.0, &packets.1, &packets.2)
        ogg_stream_packetin(stream, &packets.0)
        ogg_stream_packetin(stream, &packets.1)
        ogg_stream_packetin(stream, &packets.2)
        vorbis_comment_clear(&comment)
        save()
    }

    var size: Int { output.size }
    var fault: String { output.fault ?? "the encoder failed" }
    var code: Int32 { output.code }

    func write(_ samples: UnsafePointer<Float>, _ frames: Int) -> Int {
        let before = waiting.count / channels
        waiting += UnsafeBufferPointer(start: samples, count: frames * channels)
        var done = 0
        while (waiting.count / channels) - done >= Self.chunk, encode(from: done, Self.chunk) { done += Self.chunk }
        waiting.removeFirst(done * channels)
        return output.fault == nil ? frames : max(0, done - before)
    }

    /// Gives the encoder frames that wait. What it makes of them depends on how many it gets at once: always as many, but
    /// where the recording is saved.
    private func encode(from start: Int, _ frames: Int) -> Bool {
        guard let buffer = vorbis_analysis_buffer(coder, Int32(frames)) else { return false }
        for channel in 0..<channels {
            guard let row = buffer[channel] else { return false }
            for frame in 0..<frames {
                let sample = waiting[(start + frame) * channels + channel]
                // What is no number would spoil what is beside it.
                row[frame] = sample.isFinite ? sample : 0
            }
        }
        vorbis_analysis_wrote(coder, Int32(frames))
        encode()
        return output.fault == nil
    }

    /// Only formats of integers are given them.
    func write(_ integers: [Int32], _ frames: Int) -> Int { 0 }

    /// Writes what the encoder has ready, as far as pages are full.
    private func encode() {
        var packet = ogg_packet()
        while vorbis_analysis_blockout(coder, block) == 1 {
            vorbis_analysis(block, nil)
            vorbis_bitrate_addblock(block)
            while vorbis_bitrate_flushpacket(coder, &packet) == 1 {
                ogg_stream_packetin(stream, &packet)
                put(ogg_stream_pageout)
            }
        }
    }

    private func put(_ next: (UnsafeMutablePointer<ogg_stream_state>?, UnsafeMutablePointer<ogg_page>?) -> Int32) {
        var page = ogg_page()
        while next(stream, &page) != 0 {
            if let head = page.header { _ = output.write(head, page.header_len) }
            if let body = page.body { _ = output.write(body, page.body_len) }
        }
    }

    /// By its pages.
    let saveShows = true

    func save() {
        if !waiting.isEmpty { _ = encode(from: 0, waiting.count / channels) }
        waiting = []
        put(ogg_stream_flush)
    }

    func synchronize() { output.synchronize() }

    func close() -> String? {
        save()
        vorbis_analysis_wrote(coder, 0)
        encode()
        put(ogg_stream_flush)
        output.synchronize()
        return output.fault
    }
}
