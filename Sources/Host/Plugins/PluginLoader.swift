// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// A shared object whose description was read and found sound.
public struct LoadedPlugin: @unchecked Sendable {
    // Sendable: the pointers lead to constants in a shared object that is never unloaded.

    /// Where it was loaded from.
    public var path: String
    /// Its own name for itself.
    public var name: String
    /// Its version, as it says.
    public var version: String
    /// Its licence, as it says.
    public var license: String
    /// The types that can be used.
    public var types: [UnsafePointer<vg_node_type>]
    /// What was wrong with the types that cannot.
    public var failures: [PluginFailure]
}

/// Why a shared object, or one of its types, cannot be used. Never stops the host.
public struct PluginFailure: Error, Sendable, Equatable {
    /// The shared object.
    public var path: String
    /// The node type that is lost with it, as far as can be known.
    public var type: String
    /// What is wrong.
    public var reason: String
    /// What to do about it.
    public var hint: String
    /// The package that would help; empty when none would.
    public var package: String

    /// Describes a failure.
    public init(path: String, type: String, reason: String, hint: String = "", package: String = "") {
        self.path = path
        self.type = type
        self.reason = reason
        self.hint = hint
        self.package = package
    }
}

/// Loads shared objects and trusts nothing in them before it was looked at.
public enum PluginLoader {
    /// Opens a plugin and reads its description. A plugin stays loaded for the life of the process: nodes, events and
    /// log lines may point into it. [control]
    public static func load(_ file: PluginFile) throws(PluginFailure) -> LoadedPlugin {
        let fail = Failing(file: file)
        // A bare file name would be searched for in the system's library folders.
        let path = file.path.contains("/") ? file.path : "./" + file.path
        let library: Library
        do throws(Fault) { library = try Library(path) } catch { throw fail.opening(error.message) }
        guard let symbol = library.address(of: VG_PLUGIN_ENTRY_SYMBOL) else {
            // It stays loaded: what is of Swift in it the runtime would still look through.
            throw fail(
                "exports no \(VG_PLUGIN_ENTRY_SYMBOL)", hint: "it is not a voicegraph plugin; move it out of the folder"
            )
        }
        let entry = unsafeBitCast(symbol, to: vg_plugin_entry_function.self)
        guard let plugin = entry(UInt32(VG_ABI_VERSION)) else {
            throw fail(
                "refuses this host, which has ABI version \(VG_ABI_VERSION)",
                hint: "build it again with this version's node.h")
        }
        return try read(plugin, fail)
    }

    private static func read(_ plugin: UnsafePointer<vg_plugin>, _ fail: Failing) throws(PluginFailure) -> LoadedPlugin
    {
        let rebuild = "build it again with this version's node.h"
        // `abi` and `size` come first in every version, so they can be read whatever follows.
        guard plugin.pointee.abi == UInt32(VG_ABI_VERSION) else {
            throw fail("has ABI version \(plugin.pointee.abi), the host has \(VG_ABI_VERSION)", hint: rebuild)
        }
        guard Int(plugin.pointee.size) >= MemoryLayout<vg_plugin>.size else {
            throw fail("says that its description has \(plugin.pointee.size) bytes, too few", hint: rebuild)
        }
        let count = Int(plugin.pointee.type_count)
        guard count > 0 else { throw fail("offers no node types", hint: "set type_count in its vg_plugin") }
        guard count <= 1024 else {
            throw fail("claims to offer \(count) node types", hint: "look at type_count in its vg_plugin")
        }
        guard let types = plugin.pointee.types else {
            throw fail("offers \(count) node types but lists none", hint: "set types in its vg_plugin")
        }
        var good: [UnsafePointer<vg_node_type>] = []
        var failures: [PluginFailure] = []
        for index in 0..<count {
            do {
                good.append(try checkNodeType(types[index], index: index))
            } catch {
                failures.append(
                    PluginFailure(
                        path: fail.file.path, type: error.type ?? fail.file.promisedType, reason: error.reason,
                        hint: "this is a fault of the plugin; tell its author"))
            }
        }
        if good.isEmpty, let first = failures.first { throw first }
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        return LoadedPlugin(
            path: fail.file.path, name: text(plugin.pointee.name), version: text(plugin.pointee.version),
            license: text(plugin.pointee.license), types: good, failures: failures)
    }
}

private struct Failing {
    let file: PluginFile

    func callAsFunction(_ reason: String, hint: String = "", package: String = "") -> PluginFailure {
        PluginFailure(path: file.path, type: file.promisedType, reason: reason, hint: hint, package: package)
    }

    /// Reads what the dynamic linker says: "WHAT: WHY" or "WHAT: WHY: system error".
    func opening(_ message: String) -> PluginFailure {
        if let range = message.firstRange(of: ": cannot open shared object file") {
            let library = String(message[..<range.lowerBound])
            if library.hasSuffix(file.path) {
                return self("cannot be opened:\(message[range.upperBound...].dropFirst())")
            }
            let package = debianPackage(library)
            return self(
                "\(library) is missing",
                hint: package.isEmpty ? "install the library that contains \(library)" : "apt install \(package)",
                package: package)
        }
        if let range = message.firstRange(of: "undefined symbol: ") {
            return self(
                "needs \(message[range.upperBound...]), which no library offers",
                hint: "it was built against another version of a library, or not linked with it; build it again")
        }
        if message.contains("' not found (required by") {
            return self(
                "was built for a newer system: \(message.split(separator: ":").last.map(String.init) ?? message)",
                hint: "build it again here")
        }
        for word in ["invalid ELF header", "file too short", "wrong ELF class", "ELF file's", "cannot read file data"]
        where message.contains(word) {
            return self(
                "is not a shared object of this machine (\(word == "ELF file's" ? "bad ELF header" : word))",
                hint: "build it again here, or move it out of the folder")
        }
        return self(message, hint: "the dynamic linker refuses it; `ldd` tells more")
    }
}

/// The Debian package of a library that plugins are known to need; empty when it is not known.
func debianPackage(_ library: String) -> String {
    let known = [
        "libespeak-ng.so": "libespeak-ng1", "libsndfile.so": "libsndfile1", "libsamplerate.so": "libsamplerate0",
        "libjack.so": "libjack-jackd2-0", "liblilv-0.so": "liblilv-0-0", "libasound.so": "libasound2",
        "libfftw3f.so": "libfftw3-single3", "libfftw3.so": "libfftw3-double3", "libspeexdsp.so": "libspeexdsp1",
        "libpocketsphinx.so": "libpocketsphinx3", "librubberband.so": "librubberband2", "liblo.so": "liblo7",
        "libvorbisenc.so": "libvorbisenc2", "libsoxr.so": "libsoxr0", "libfluidsynth.so": "libfluidsynth3",
        "libcurl.so": "libcurl4",
        "libwebrtc_audio_processing.so": "libwebrtc-audio-processing1", "libstdc++.so": "libstdc++6",
    ]
    guard let range = library.firstRange(of: ".so") else { return "" }
    return known[String(library[..<range.upperBound])] ?? ""
}
