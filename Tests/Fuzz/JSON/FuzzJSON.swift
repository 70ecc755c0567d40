// SPDX-License-Identifier: Apache-2.0
import GraphFile
import JSON
import NodeKit

/// Any bytes are what a client sends: they are read or refused without a crash, the place of a fault lies in them, and
/// what was read is written and read back as the same, also on its way through a setting.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let value: JSON
    do throws(JSON.Fault) { value = try JSON(bytes) } catch {
        precondition((0...count).contains(error.offset) && !error.message.isEmpty)
        return 0
    }
    let text = value.text
    precondition((try? JSON(text.utf8)) == value, "not the same: \(text)")
    precondition(!text.utf8.contains { $0 < 32 }, "more than a line: \(text)")
    if let setting = value.setting {
        let back = JSON(setting)
        precondition((try? JSON(back.text.utf8)) == back, "not the same: \(back.text)")
        precondition(back.setting.map { JSON($0) } == back)
    }
    return 0
}
