// SPDX-License-Identifier: Apache-2.0
import CSpeech
import Glibc
import NodeKit

/// A model in ONNX Runtime's own format, made ready once for every time that it is read.
///
/// The runtime computes what follows from constants alone when it reads a model, but not one of this format: there it makes
/// floats of all weights of 8 bits anew for each input, which is most of its work. So the model is read once, written in
/// ONNX's format, read again, and written with what was computed. Its constants are then mapped into memory, not copied.
struct OnnxReady {
    private let runtime: OnnxRuntime
    private let path: String
    /// Where what is ready lies, beside the model: whoever removes or replaces that removes this.
    private let folder: String
    /// The name of the model's file without its ending.
    private let stem: String
    /// Changes with the file and with the runtime.
    private let name: String
    private let size: Int

    private var model: String { "\(folder)/\(name).onnx" }
    private var constants: String { "\(folder)/\(name).bin" }

    /// How many times the size of the model is used on the disk, and in memory, while it is made ready.
    private static let (onDisk, inMemory) = (9, 18)

    /// Nil: there is no such file. [worker]
    init?(_ path: String, _ runtime: OnnxRuntime) {
        var facts = stat()
        guard stat(path, &facts) == 0, let slash = path.lastIndex(of: "/") else { return nil }
        let file = path[path.index(after: slash)...]
        self.runtime = runtime
        self.path = path
        folder = path[..<slash] + "/ready"
        stem = String(file.prefix { $0 != "." })
        size = Int(facts.st_size)
        name = "\(stem)-\(runtime.version)-\(size)-\(facts.st_mtim.tv_sec)"
    }

    /// Reads what is ready; nil: nothing is, or it cannot be read. [worker]
    func read() -> OnnxSession? {
        guard access(model, R_OK) == 0 else { return nil }
        return try? OnnxSession(runtime, model, OnnxOptions(isAsIs: true))
    }

    /// Makes it ready, unless somebody else has done so meanwhile; `begins` is called before it does. [worker]
    func make(begins: () -> Void) throws(NodeError) {
        if mkdir(folder, 0o755) != 0, errno != EEXIST { throw fault("cannot write \(folder)") }
        let lock = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard lock >= 0 else { throw fault("cannot write \(folder)") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 { if errno != EINTR { throw fault("cannot lock \(folder)") } }
        if read() != nil { return }
        removeOthers()
        if let space = freeSpace, space < Self.onDisk * size {
            throw NodeError("\(folder) has \(space >> 20) MiB left, it takes \(Self.onDisk * size >> 20)")
        }
        if let memory = freeMemory(), memory < Self.inMemory * size {
            throw NodeError("\(memory >> 20) MiB of memory are left, it takes \(Self.inMemory * size >> 20)")
        }
        begins()
        let part = "\(folder)/\(stem).part"
        if mkdir(part, 0o755) != 0, errno != EEXIST { throw fault("cannot write \(part)") }
        defer {
            removeOthers(but: name)
            // What it took is many times what is needed from now on.
            vg_onnx_shrink_heap()
        }
        let plain = part + "/plain.onnx"
        _ = try OnnxSession(runtime, path, OnnxOptions(isAsIs: true, copy: plain))
        let bytes = try repaired(plain)
        unlink(plain)
        let copy = "\(part)/\(name).onnx"
        // The copy knows its constants by their name, beside it.
        _ = try OnnxSession(runtime, copy, OnnxOptions(copy: copy, constants: name + ".bin"), bytes: bytes)
        let whole = try repaired(copy)
        do throws(SystemError) { try WholeFile.write(whole, to: copy) } catch { throw NodeError("\(error)") }
        for (file, place) in [("\(part)/\(name).bin", constants), (copy, model)] {
            // Where all constants are small they are in the model.
            if place == constants, access(file, F_OK) != 0 { continue }
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw fault("cannot read \(file)") }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0, rename(file, place) == 0 else { throw fault("cannot write \(place)") }
        }
    }

    /// Removes what was made ready of older files or by other runtimes, and what a process has left that was killed.
    private func removeOthers(but kept: String? = nil) {
        for entry in names(in: folder) where entry.hasPrefix(stem) {
            if let kept, entry.hasPrefix(kept + ".") { continue }
            let place = folder + "/" + entry
            if unlink(place) != 0 { removeFolder(place) }
        }
    }

    private func repaired(_ file: String) throws(NodeError) -> [UInt8] {
        guard let bytes = OnnxRepair.repaired(try PackedFile.read(file)) else { throw NodeError("\(file) is no model") }
        return bytes
    }

    private var freeSpace: Int? {
        var space = statvfs()
        return statvfs(folder, &space) == 0 ? Int(space.f_bavail) * Int(space.f_frsize) : nil
    }

    private func fault(_ what: String) -> NodeError { NodeError("\(what): \(String(cString: strerror(errno)))") }
}
