// SPDX-License-Identifier: Apache-2.0
import CHTTP
import Glibc
import System

/// What asks addresses, and keeps connections for the next time. It loads libcurl. Used by one thread at a time.
public final class HTTPClient {
    let http: OpaquePointer

    /// The flavours of Debian: OpenSSL, GnuTLS.
    private static let library = Result { () throws(Fault) in
        try Library(["libcurl.so.4", "libcurl-gnutls.so.4"], package: "libcurl4")
    }

    /// Throws when libcurl is not there. [control]
    public init() throws(Fault) {
        _ = try Self.library.get()
        var reason = [CChar](repeating: 0, count: Int(VG_HTTP_ERROR))
        let opened = vg_http_open({ try? HTTPClient.library.get().address(of: String(cString: $0)) }, &reason)
        guard let opened else {
            let why = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw Fault("cannot load libcurl: \(why)", hint: "apt install libcurl4")
        }
        http = opened
    }

    deinit { vg_http_close(http) }
}
