// SPDX-License-Identifier: Apache-2.0
import CZlib
import NIOCore

/// Bytes as gzip has them (RFC 1952), for what is sent often and made once; nil: zlib has no memory.
func gzipped(_ bytes: ByteBuffer) -> ByteBuffer? {
    var stream = z_stream()
    guard vg_gzip_begin(&stream) == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    var (input, output) = (bytes, ByteBuffer())
    let room = Int(deflateBound(&stream, UInt(bytes.readableBytes)))
    let status = input.readWithUnsafeMutableReadableBytes { source in
        stream.next_in = source.bindMemory(to: UInt8.self).baseAddress
        stream.avail_in = UInt32(source.count)
        var result = Z_STREAM_ERROR
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { target in
            stream.next_out = target.bindMemory(to: UInt8.self).baseAddress
            stream.avail_out = UInt32(target.count)
            result = deflate(&stream, Z_FINISH)
            return target.count - Int(stream.avail_out)
        }
        return (source.count, result)
    }
    return status == Z_STREAM_END ? output : nil
}
