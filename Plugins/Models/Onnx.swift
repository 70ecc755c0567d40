// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import NodeKit

/// ONNX Runtime, which computes what a trained model says. It is one of the models that are installed.
public final class OnnxRuntime: @unchecked Sendable {
    // Sendable: its functions may be called from any thread.
    /// The name of the model that it comes as.
    public static let model = "onnxruntime"

    private static let loaded = Lock<[String: OnnxRuntime]>([:])
    let library: OpaquePointer

    /// As in "1.28.2".
    public var version: String { String(cString: vg_onnx_version(library)) }

    private init(_ library: OpaquePointer) { self.library = library }

    /// Loads it, once a process, from the models of this user. [control]
    public static func load(from models: String) throws(NodeError) -> OnnxRuntime {
        let path = try ModelFolder(model, in: models).file("libonnxruntime.so")
        return try loaded.withLock { loaded throws(NodeError) in
            if let runtime = loaded[path] { return runtime }
            do throws(NodeError) {
                let runtime = OnnxRuntime(try open(path))
                loaded[path] = runtime
                return runtime
            } catch {
                throw NodeError(
                    "cannot load ONNX Runtime: \(error.message)",
                    hint: "voicegraph models remove \(model); voicegraph models install \(model)")
            }
        }
    }

    private static func open(_ path: String) throws(NodeError) -> OpaquePointer {
        let library = try Library(path)
        var opened: OpaquePointer?
        let reason = errorText { opened = vg_onnx_open(library.address(of: "OrtGetApiBase"), path, $0) }
        if let opened { return opened }
        // Another one may come to lie there.
        library.close()
        throw NodeError(reason)
    }
}

/// A tensor of ONNX Runtime.
public final class OnnxValue {
    private let runtime: OnnxRuntime
    let value: OpaquePointer

    fileprivate init(_ runtime: OnnxRuntime, owning value: OpaquePointer) {
        self.runtime = runtime
        self.value = value
    }

    deinit { vg_onnx_free(runtime.library, value) }

    /// A tensor with a copy of `elements`, row after row, as many as the shape says.
    public convenience init(_ runtime: OnnxRuntime, _ elements: [Float], shape: [Int]) throws(NodeError) {
        try self.init(runtime, VG_ONNX_FLOAT, elements, shape)
    }

    /// A tensor of integers.
    public convenience init(_ runtime: OnnxRuntime, _ elements: [Int64], shape: [Int]) throws(NodeError) {
        try self.init(runtime, VG_ONNX_INT64, elements, shape)
    }

    /// A tensor of truth values.
    public convenience init(_ runtime: OnnxRuntime, _ elements: [Bool], shape: [Int]) throws(NodeError) {
        try self.init(runtime, VG_ONNX_BOOL, elements.map { $0 ? UInt8(1) : 0 }, shape)
    }

    private convenience init<T>(
        _ runtime: OnnxRuntime, _ type: vg_onnx_type, _ elements: [T], _ shape: [Int]
    ) throws(NodeError) {
        let made = elements.withUnsafeBytes {
            vg_onnx_make(runtime.library, type, shape.map(Int64.init), shape.count, $0.baseAddress, $0.count)
        }
        guard let made else { throw NodeError("no memory for a tensor of \(elements.count) elements, shape \(shape)") }
        self.init(runtime, owning: made)
    }

    /// Its elements, row after row, and its shape; throws if they are not floats.
    public func floats() throws(NodeError) -> (elements: [Float], shape: [Int]) {
        try elements(VG_ONNX_FLOAT, as: Float.self)
    }

    /// The same of integers.
    public func integers() throws(NodeError) -> (elements: [Int64], shape: [Int]) {
        try elements(VG_ONNX_INT64, as: Int64.self)
    }

    private func elements<T>(_ type: vg_onnx_type, as: T.Type) throws(NodeError) -> (elements: [T], shape: [Int]) {
        var count = 0
        var shape = [Int64](repeating: 0, count: 8)
        var rank = shape.count
        guard let first = vg_onnx_elements(runtime.library, value, type, &count, &shape, &rank) else {
            throw NodeError("a result is no tensor of \(T.self)")
        }
        let elements = UnsafeBufferPointer(start: first.assumingMemoryBound(to: T.self), count: count)
        return (Array(elements), shape.prefix(rank).map(Int.init))
    }
}

/// A model that was read, and computes. By one thread at a time.
public final class OnnxSession: @unchecked Sendable {
    // Sendable: whoever has it uses it from one thread at a time.
    /// Where tensors for it are made.
    public let runtime: OnnxRuntime
    /// The names of what it takes, in its own order.
    public let inputs: [String]
    /// The names of what it gives.
    public let outputs: [String]
    private let session: OpaquePointer
    private let path: String

    /// Reads the file of a model, or only a part of it. Not `isExact`: sums of 8-bit products may overflow on processors without
    /// VNNI. [worker]
    public convenience init(
        _ runtime: OnnxRuntime, path: String, part: OnnxPart? = nil, threads: Int = 1, isExact: Bool = true
    ) throws(NodeError) {
        let options = OnnxOptions(threads: threads, isExact: isExact)
        guard let part else {
            try self.init(runtime, path, options)
            return
        }
        guard let model = part.cut(out: try PackedFile.read(path)) else {
            throw NodeError("\(path) is another model: it has no \(part.inputs + part.outputs)")
        }
        try self.init(runtime, path, options, bytes: model)
    }

    /// Reads a model in ONNX Runtime's own format, made ready once to be computed many times as fast, in several times the
    /// room. Where that cannot be done it is read as it is; `note` takes what there is to tell of it. [worker]
    public static func reading(
        _ runtime: OnnxRuntime, ready path: String, note: (vg_log_level, String) -> Void
    ) throws(NodeError) -> OnnxSession {
        guard let ready = OnnxReady(path, runtime) else { return try OnnxSession(runtime, path: path) }
        if let session = ready.read() { return session }
        do throws(NodeError) {
            try ready.make { note(VG_LOG_INFO, "\(path) is made ready for faster work, once") }
            if let session = ready.read() { return session }
            note(VG_LOG_WARNING, "\(path) works more slowly: what was made of it cannot be read")
        } catch {
            note(VG_LOG_WARNING, "\(path) works more slowly, since it cannot be made ready: \(error.message)")
        }
        return try OnnxSession(runtime, path: path)
    }

    /// Reads the model of these bytes, or of the file.
    init(
        _ runtime: OnnxRuntime, _ path: String, _ options: OnnxOptions, bytes: [UInt8]? = nil
    ) throws(NodeError) {
        var made: OpaquePointer?
        let reason = errorText { error in
            made = options.inC { vg_onnx_read(runtime.library, path, bytes, bytes?.count ?? 0, $0, error) }
        }
        guard let made else {
            throw NodeError(
                "cannot read the model \(path): \(reason)", hint: "remove and install it again: voicegraph models")
        }
        func names(outputs isOutputs: Bool) -> [String] {
            (0..<vg_onnx_count(made, isOutputs)).map { index in
                guard let name = vg_onnx_name(made, isOutputs, index) else { return "" }
                defer { free(name) }
                return String(cString: name)
            }
        }
        self.runtime = runtime
        self.path = path
        session = made
        inputs = names(outputs: false)
        outputs = names(outputs: true)
    }

    deinit { vg_onnx_close(session) }

    /// Throws if this is another model than the caller knows: it takes and gives other things.
    public func require(inputs wanted: [String], outputs given: [String]) throws(NodeError) {
        if Set(wanted).isSubset(of: inputs), Set(given).isSubset(of: outputs) { return }
        throw NodeError("\(path) is another model: it takes \(inputs.prefix(4)) and gives \(outputs.prefix(4))")
    }

    /// Computes the outputs of these names, in their order, from inputs by their names. [worker]
    public func run(_ values: [(name: String, value: OnnxValue)], outputs: [String]) throws(NodeError) -> [OnnxValue] {
        let names = (values.map(\.name) + outputs).map { strdup($0) }
        defer { for name in names { free(name) } }
        var results = [OpaquePointer?](repeating: nil, count: outputs.count)
        let pointers = names.map { UnsafePointer($0) }
        let tensors = values.map { Optional($0.value.value) }
        var isDone = false
        let reason = errorText { error in
            pointers.withUnsafeBufferPointer { names in
                names.baseAddress!.withMemoryRebound(to: UnsafePointer<CChar>.self, capacity: names.count) { first in
                    tensors.withUnsafeBufferPointer { tensors in
                        tensors.baseAddress!.withMemoryRebound(to: OpaquePointer.self, capacity: tensors.count) {
                            isDone = vg_onnx_run(
                                session, first, $0, values.count, first + values.count, outputs.count, &results, error)
                        }
                    }
                }
            }
        }
        withExtendedLifetime(values) {}
        guard isDone else { throw NodeError("cannot compute \(path): \(reason)") }
        return results.compactMap { $0 }.map { OnnxValue(runtime, owning: $0) }
    }
}

/// How a model is read; vg_onnx_options says more.
struct OnnxOptions {
    var threads = 1
    var isExact = true
    var isAsIs = false
    var copy: String?
    var constants: String?

    func inC<R>(_ body: (vg_onnx_options) -> R) -> R {
        (copy ?? "").withCString { copyPath in
            (constants ?? "").withCString { constantsName in
                body(
                    vg_onnx_options(
                        threads: Int32(threads), exact: isExact, as_is: isAsIs, copy: copy == nil ? nil : copyPath,
                        constants: constants == nil ? nil : constantsName))
            }
        }
    }
}

/// What a call left as its error.
private func errorText(_ body: (UnsafeMutablePointer<CChar>) -> Void) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: VG_ONNX_ERROR) { error in
        error.initialize(repeating: 0)
        body(error.baseAddress!)
        return String(cString: error.baseAddress!)
    }
}
