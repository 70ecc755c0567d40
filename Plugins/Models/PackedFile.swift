// SPDX-License-Identifier: Apache-2.0
import CZlib
import NodeKit

/// Files of models, as they are or compressed by gzip.
public enum PackedFile {
    /// More than that is no table of a model.
    private static let most = 256 << 20

    /// All bytes of a file, unpacked. The error names it. [worker]
    public static func read(_ path: String) throws(NodeError) -> [UInt8] {
        // Files that are not compressed are read as they are.
        guard let file = gzopen(path, "rbe") else { throw NodeError("cannot open \(path)", hint: again) }
        defer { gzclose(file) }
        gzbuffer(file, 1 << 17)
        var bytes: [UInt8] = []
        while bytes.count < most {
            let read = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 16) { buffer in
                let read = gzread(file, buffer.baseAddress, UInt32(buffer.count))
                if read > 0 { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<Int(read)])) }
                return read
            }
            if read == 0, gzeof(file) != 0 {
                var fault: Int32 = Z_OK
                gzerror(file, &fault)
                if fault == Z_OK { return bytes }
            }
            if read <= 0 { break }
        }
        throw NodeError("\(path) cannot be unpacked: it is damaged, or too large", hint: again)
    }

    private static let again = "remove and install it again: voicegraph models"
}
