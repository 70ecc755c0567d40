// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// A shared object in one of the plugin folders, not loaded yet.
public struct PluginFile: Sendable, Hashable {
    /// Where it is.
    public var path: String
    /// Whether it belongs to the program itself.
    var isOwn = false

    /// Names a shared object.
    public init(path: String) { self.path = path }

    /// The node type that the file name promises: `libvg-tts.so` and `tts.so` hold `tts`. A plugin with more types
    /// may have a symbolic link for each; without one its types are found too, only later.
    public var promisedType: String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasSuffix(".so") { name.removeLast(3) }
        if name.hasPrefix("libvg-") { name.removeFirst(6) }
        return name
    }
}

/// The folders in which plugins are looked for, first come, first served.
public struct PluginSearch: Sendable {
    /// One folder.
    public struct Folder: Sendable, Hashable {
        /// Where it is.
        public var path: String
        /// Whether only `libvg-*.so` counts, because the folder holds other shared objects too.
        public var onlyPrefixed: Bool
        /// Whether it belongs to the program itself.
        var isOwn = false

        /// Names a folder.
        public init(_ path: String, onlyPrefixed: Bool = false) {
            self.path = path
            self.onlyPrefixed = onlyPrefixed
        }
    }

    /// In the order of the search.
    public var folders: [Folder]

    /// Searches these folders only.
    public init(folders: [Folder]) { self.folders = folders }

    /// The usual folders: `extra` (from `--plugin-path`), `$VOICEGRAPH_PLUGIN_PATH` (several are separated by colons),
    /// the executable's own folder, `lib/voicegraph` of its prefix, the user's data folder; then, for programs that embed
    /// the host, the same of the `voicegraph` that a shell would find, and of the system.
    public static func standard(extra: [String] = []) -> PluginSearch {
        var folders = extra.map { Folder($0) }
        folders += environment("VOICEGRAPH_PLUGIN_PATH").split(separator: ":").map { Folder(String($0)) }
        func add(of executable: String) {
            let folder = parent(executable)
            for var own in [Folder(folder, onlyPrefixed: true), Folder(parent(folder) + "/lib/voicegraph")] {
                own.isOwn = true
                folders.append(own)
            }
        }
        if let executable = executablePath() { add(of: executable) }
        let home = environment("HOME")
        let data = environment("XDG_DATA_HOME")
        if !data.isEmpty || !home.isEmpty {
            folders.append(Folder((data.isEmpty ? home + "/.local/share" : data) + "/voicegraph/plugins"))
        }
        if let command = installedCommand() { add(of: command) }
        folders += ["/usr/local/lib/voicegraph", "/usr/lib/voicegraph"].map { Folder($0) }
        var seen: Set<String> = []
        return PluginSearch(folders: folders.filter { seen.insert($0.path).inserted })
    }

    /// Every candidate, in the order of the search and by name within a folder. Folders that do not exist are passed
    /// over. Reads folders only, no file. [control]
    public func files() -> [PluginFile] {
        var seen: Set<String> = []
        var result: [PluginFile] = []
        for folder in folders {
            for name in names(in: folder.path).sorted() where name.hasSuffix(".so") {
                if folder.onlyPrefixed, !name.hasPrefix("libvg-") { continue }
                let path = folder.path.hasSuffix("/") ? folder.path + name : folder.path + "/" + name
                guard seen.insert(path).inserted else { continue }
                var file = PluginFile(path: path)
                file.isOwn = folder.isOwn
                result.append(file)
            }
        }
        return result
    }

    /// Folders that were asked for by name but cannot be read: a typing mistake should not pass in silence.
    public static func missing(_ folders: [String]) -> [String] {
        folders.filter { folder in
            guard let handle = opendir(folder) else { return true }
            closedir(handle)
            return false
        }
    }
}

private func environment(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

private func parent(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
}

private func executablePath() -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4097) { buffer in
        let count = readlink("/proc/self/exe", buffer.baseAddress!, 4096)
        guard count > 0 else { return nil }
        buffer[count] = 0
        return String(cString: buffer.baseAddress!)
    }
}

/// The `voicegraph` that a shell would run, behind its symbolic links; nil: there is none.
private func installedCommand() -> String? {
    guard let path = programPath("voicegraph", in: environment("PATH")), let real = realpath(path, nil) else {
        return nil
    }
    defer { free(real) }
    return String(cString: real)
}
