// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import NodeKit

/// TensorFlow Lite, which computes small models. It comes with those that need it.
public struct TFLite: @unchecked Sendable {
    // Sendable: addresses of functions; what they work on is one thread's at a time.
    fileprivate let functions: vg_tflite

    private static let loaded = Lock<[String: TFLite]>([:])

    /// Loads the library at a path, once a process. [control]
    public static func load(_ path: String) throws(NodeError) -> TFLite {
        try loaded.withLock { loaded throws(NodeError) in
            if let library = loaded[path] { return library }
            let library = try TFLite(Library(path))
            loaded[path] = library
            return library
        }
    }

    private init(_ library: Library) throws(NodeError) {
        var functions = vg_tflite()
        functions.TfLiteModelCreateFromFile = try library.function("TfLiteModelCreateFromFile")
        functions.TfLiteModelDelete = try library.function("TfLiteModelDelete")
        functions.TfLiteInterpreterCreate = try library.function("TfLiteInterpreterCreate")
        functions.TfLiteInterpreterDelete = try library.function("TfLiteInterpreterDelete")
        functions.TfLiteInterpreterAllocateTensors = try library.function("TfLiteInterpreterAllocateTensors")
        functions.TfLiteInterpreterInvoke = try library.function("TfLiteInterpreterInvoke")
        functions.TfLiteInterpreterGetInputTensor = try library.function("TfLiteInterpreterGetInputTensor")
        functions.TfLiteInterpreterGetOutputTensor = try library.function("TfLiteInterpreterGetOutputTensor")
        functions.TfLiteTensorType = try library.function("TfLiteTensorType")
        functions.TfLiteTensorByteSize = try library.function("TfLiteTensorByteSize")
        functions.TfLiteTensorQuantizationParams = try library.function("TfLiteTensorQuantizationParams")
        functions.TfLiteTensorCopyFromBuffer = try library.function("TfLiteTensorCopyFromBuffer")
        functions.TfLiteTensorCopyToBuffer = try library.function("TfLiteTensorCopyToBuffer")
        self.functions = functions
    }
}

/// A model of 8 bits that takes one tensor and gives one, and may remember what it took before. By one thread at a time.
public final class TFLiteModel {
    /// Numbers that it takes at once.
    public private(set) var inputs = 0

    private let functions: vg_tflite
    private let path: String
    private let model: UnsafeMutableRawPointer
    private var interpreter: UnsafeMutableRawPointer?
    private var input: UnsafeMutableRawPointer?
    private var output: UnsafeRawPointer?

    /// Reads the file of a model. [worker]
    public init(_ library: TFLite, path: String) throws(NodeError) {
        functions = library.functions
        self.path = path
        guard let model = functions.TfLiteModelCreateFromFile?(path) else {
            throw NodeError("cannot read the model \(path)", hint: "remove and install it again: voicegraph models")
        }
        self.model = model
        try reset()
    }

    deinit {
        if let interpreter { functions.TfLiteInterpreterDelete?(interpreter) }
        functions.TfLiteModelDelete?(model)
    }

    /// Forgets what it took before. [worker]
    public func reset() throws(NodeError) {
        if let interpreter { functions.TfLiteInterpreterDelete?(interpreter) }
        interpreter = functions.TfLiteInterpreterCreate?(model, nil)
        guard let interpreter, functions.TfLiteInterpreterAllocateTensors?(interpreter) == 0,
            let input = functions.TfLiteInterpreterGetInputTensor?(interpreter, 0),
            let output = functions.TfLiteInterpreterGetOutputTensor?(interpreter, 0)
        else { throw NodeError("cannot make ready the model \(path)") }
        let types = [VG_TFLITE_INT8, VG_TFLITE_UINT8].map { Int32($0) }
        guard let taken = functions.TfLiteTensorType?(input), let given = functions.TfLiteTensorType?(output),
            types.contains(taken), types.contains(given)
        else { throw NodeError("\(path) is another model: it does not take and give numbers of 8 bits") }
        (self.input, self.output) = (input, output)
        inputs = functions.TfLiteTensorByteSize?(input) ?? 0
    }

    /// What it gives for `inputs` numbers. [worker]
    public func run(_ numbers: [Float]) throws(NodeError) -> [Float] {
        guard let interpreter, let input, let output, numbers.count == inputs,
            let quantum = functions.TfLiteTensorQuantizationParams?(input),
            let result = functions.TfLiteTensorQuantizationParams?(output), quantum.scale > 0
        else { throw NodeError("the model \(path) takes \(inputs) numbers, not \(numbers.count)") }
        let isSigned = functions.TfLiteTensorType?(input) == Int32(VG_TFLITE_INT8)
        let bytes = numbers.map { number -> UInt8 in
            let integer = (number / quantum.scale + Float(quantum.zero_point)).rounded()
            let clipped = Int(integer.isFinite ? max(isSigned ? -128 : 0, min(isSigned ? 127 : 255, integer)) : 0)
            return UInt8(truncatingIfNeeded: clipped)
        }
        var given = [UInt8](repeating: 0, count: functions.TfLiteTensorByteSize?(output) ?? 0)
        guard functions.TfLiteTensorCopyFromBuffer?(input, bytes, bytes.count) == 0,
            functions.TfLiteInterpreterInvoke?(interpreter) == 0,
            functions.TfLiteTensorCopyToBuffer?(output, &given, given.count) == 0
        else { throw NodeError("cannot compute \(path)") }
        let isResultSigned = functions.TfLiteTensorType?(output) == Int32(VG_TFLITE_INT8)
        return given.map { byte in
            let integer = isResultSigned ? Int32(Int8(bitPattern: byte)) : Int32(byte)
            return result.scale * Float(integer - result.zero_point)
        }
    }
}
