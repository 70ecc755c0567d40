// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is used of libsoxr, which is loaded when a node of the web is first prepared: nothing else needs it to be there.
struct SoxrFunctions: @unchecked Sendable {
    // Sendable: functions of a library that stays loaded.
    typealias Failure = UnsafePointer<CChar>?

    let create:
        @convention(c) (
            Double, Double, UInt32, UnsafeMutablePointer<Failure>?, UnsafeRawPointer?, UnsafeRawPointer?,
            UnsafeRawPointer?
        ) -> OpaquePointer?
    let delete: @convention(c) (OpaquePointer) -> Void
    let setRatio: @convention(c) (OpaquePointer, Double, Int) -> Failure
    let process:
        @convention(c) (
            OpaquePointer, UnsafePointer<Float>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Float>?, Int,
            UnsafeMutablePointer<Int>?
        ) -> Failure

    /// Loaded once.
    static let loaded = Result { () throws(NodeError) in try SoxrFunctions() }

    private init() throws(NodeError) {
        let library = try Library(["libsoxr.so.0"], package: "libsoxr0")
        create = try library.function("soxr_create")
        delete = try library.function("soxr_delete")
        setRatio = try library.function("soxr_set_io_ratio")
        process = try library.function("soxr_process")
    }

    /// Calls `body` with a `soxr_quality_spec` that asks for a ratio that may change at any time.
    func withVariableRate<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
        // Precision in bits, phase in percent (50: linear), ends of pass and stop band; a pointer and the flags, with
        // SOXR_VR.
        let (numbers, rest): ([Double], [UInt]) = ([20, 50, 0.9137, 1], [0, 32])
        return withUnsafeTemporaryAllocation(byteCount: 48, alignment: 8) { memory in
            for (index, number) in numbers.enumerated() {
                memory.storeBytes(of: number, toByteOffset: 8 * index, as: Double.self)
            }
            for (index, word) in rest.enumerated() {
                memory.storeBytes(of: word, toByteOffset: 32 + 8 * index, as: UInt.self)
            }
            return body(UnsafeRawPointer(memory.baseAddress!))
        }
    }
}
