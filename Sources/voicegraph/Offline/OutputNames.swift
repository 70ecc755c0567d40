// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import NodeKit
import System

/// What is written for each of several files: a file of the same name in a folder, or one whose name has `{name}` in it, which
/// stands for what the file is called without its suffix.
struct OutputNames {
    /// As it was given.
    let text: String
    private let isFolder: Bool

    /// For sentences and help.
    static let mark = "{name}"

    /// A text that names a folder, which is there or ends in `/`, takes `suffix` for its files.
    init(_ text: String, suffix: String) {
        var status = stat()
        isFolder =
            !text.contains(Self.mark)
            && (text.hasSuffix("/") || stat(text, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR)
        self.text = isFolder ? (text.hasSuffix("/") ? text : text + "/") + Self.mark + suffix : text
    }

    /// Whether each file gets one of its own.
    var areMany: Bool { text.contains(Self.mark) }

    /// One for each; throws where one would be written over another, or over what is to be read.
    func paths(for files: [String]) throws(Fault) -> [String] {
        guard areMany || files.count < 2 else {
            throw Fault(
                "\(text) is one file, and \(files.count) are to be written",
                hint: "name a folder, as \(text)/, or write \(Self.mark) for what each is called")
        }
        let parts = text.split(separator: Self.mark, omittingEmptySubsequences: false)
        let paths = files.map { parts.joined(separator: Self.stem($0)) }
        let read = Set(files.compactMap { FileIdentity($0) })
        var made: [String: String] = [:]
        for (path, file) in zip(paths, files) {
            if let old = FileIdentity(path), read.contains(old) {
                throw Fault(
                    "\(path) would be written over, which is to be read",
                    hint: "name another \(areMany ? "folder" : "file")")
            }
            if let other = made.updateValue(file, forKey: path) {
                throw Fault(
                    "\(other) and \(file) would both become \(path)",
                    hint: "call one of them otherwise, or do them apart")
            }
        }
        return paths
    }

    /// Makes the folder, if one was named that is not there.
    func makeFolder() throws(Fault) {
        guard isFolder else { return }
        let folder = String(text[..<(text.lastIndex(of: "/") ?? text.startIndex)])
        guard mkdir(folder, 0o777) != 0, errno != EEXIST else { return }
        throw Fault("cannot make the folder \(folder): \(String(cString: strerror(errno)))")
    }

    /// What a file is called, without folder and suffix.
    private static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}
