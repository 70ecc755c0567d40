// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

@testable import Host

/// Where plugins are looked for.
@Suite(.serialized) struct PluginSearchTests {
    @Test("A program that embeds the host finds the plugins of the voicegraph that a shell would run") func embedded()
        throws
    {
        let scratch = try Scratch()
        for folder in ["prefix", "prefix/bin", "prefix/lib", "prefix/lib/voicegraph", "links"] {
            mkdir(scratch.file(folder), 0o755)
        }
        try scratch.write("prefix/bin/voicegraph", "#!/bin/sh\n")
        chmod(scratch.file("prefix/bin/voicegraph"), 0o755)
        try scratch.write("prefix/lib/voicegraph/libvg-crystal.so", "")
        symlink(scratch.file("prefix/bin/voicegraph"), scratch.file("links/voicegraph"))
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        setenv("PATH", "\(scratch.file("links")):\(path)", 1)
        defer { setenv("PATH", path, 1) }
        let files = PluginSearch.standard().files().map(\.path)
        #expect(files.contains { $0.hasSuffix("/prefix/lib/voicegraph/libvg-crystal.so") })
        // What the user names comes first all the same.
        let folders = PluginSearch.standard(extra: ["/mine"]).folders.map(\.path)
        #expect(folders.first == "/mine" && folders.contains("/usr/lib/voicegraph"))
        #expect(Set(folders).count == folders.count)
    }
}
