// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a plugin played, kept in a file beside its state for the copies in later processes.
enum Recording {
    /// Writes all channels one after the other; false: errno says why not.
    static func write(_ outputs: [[Float]], to folder: String) -> Bool {
        guard let file = fopen(path(folder), "w") else { return false }
        var complete = true
        for channel in outputs { complete = fwrite(channel, 4, channel.count, file) == channel.count && complete }
        return fclose(file) == 0 && complete
    }

    /// The largest difference from what was written; nil: all the same. NaN equals NaN.
    static func difference(_ outputs: [[Float]], from folder: String) -> Float? {
        let now = Array(outputs.joined())
        var before = [Float](repeating: 0, count: now.count + 1)
        guard let file = fopen(path(folder), "r") else { return .infinity }
        defer { fclose(file) }
        guard fread(&before, 4, before.count, file) == now.count else { return .infinity }
        var largest: Float?
        for (x, y) in zip(now, before) where x != y && !(x.isNaN && y.isNaN) {
            largest = max(largest ?? 0, abs(x - y))
        }
        return largest
    }

    private static func path(_ folder: String) -> String { folder + "/played.f32" }
}
