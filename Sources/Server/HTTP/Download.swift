// SPDX-License-Identifier: Apache-2.0
import API
import NIOHTTP1
import System

/// Where a server finds what is kept of runs.
public struct KeptFiles: Sendable {
    /// Where the file of a take lies; nil: there is no such take. [worker]
    public var take: @Sendable (Int64) throws(Fault) -> String? = { _ in nil }
    /// Where the file of a recording of this run lies; nil: there is no such recording. [worker]
    public var recording: @Sendable (Int64) -> String? = { _ in nil }
    /// The texts of a session in a format, such as srt, and what the file is called; nil: there is no such session or
    /// format. [worker]
    public var transcript: @Sendable (Int64, String) throws(Fault) -> (name: String, text: String)? = { _, _ in nil
    }

    /// Nothing is kept.
    public init() {}
}

/// What is downloaded: `takes/NUMBER/audio`, `recordings/NUMBER/audio`, or `transcripts/NUMBER.FORMAT`.
enum Download {
    case take(String)
    case recording(String)
    case transcript(String, format: String)

    /// What a path below /api/ means; nil: no download.
    init?(_ path: String) {
        if path.hasPrefix("takes/"), path.hasSuffix("/audio") {
            self = .take(String(path.dropFirst(6).dropLast(6)))
        } else if path.hasPrefix("recordings/"), path.hasSuffix("/audio") {
            self = .recording(String(path.dropFirst(11).dropLast(6)))
        } else if path.hasPrefix("transcripts/") {
            let parts = path.dropFirst(12).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            self = .transcript(String(parts[0]), format: parts.count == 2 ? String(parts[1]) : "")
        } else {
            return nil
        }
    }
}

extension Router {
    /// Looks for it, and sends it under a name to be saved as.
    func answer(_ download: Download, range: String?) -> Answer {
        let (kind, number) =
            switch download {
            case .take(let number): ("take", number)
            case .recording(let number): ("recording", number)
            case .transcript(let number, _): ("session", number)
            }
        guard let id = Int64(number), id >= 0 else {
            return .now(Response(.notFound, Fault("there is no \(kind) '\(number.prefix(40))'")))
        }
        let work = Task { [kept] in
            do throws(Fault) {
                return switch download {
                case .take: Self.sound(id, kind, try kept.take(id), range)
                case .recording: Self.sound(id, kind, kept.recording(id), range)
                case .transcript(_, let format): Self.transcript(id, format, try kept.transcript(id, format))
                }
            } catch { return Response(.serviceUnavailable, error) }
        }
        return .later(work, isLook: true)
    }

    private static func sound(_ id: Int64, _ kind: String, _ path: String?, _ range: String?) -> Response {
        guard let path else {
            return Response(.notFound, Fault("there is no \(kind) \(id)", hint: "see the call \(kind)s"))
        }
        guard let file = TakeFile(path, range: range) else {
            return Response(.notFound, Fault("the file of \(kind) \(id) is gone", hint: "it was at \(path)"))
        }
        var response = Response(file.isPart ? .partialContent : .ok, TakeFile.type(path), "")
        response.body = .file(file)
        response.headers.add(name: "Accept-Ranges", value: "bytes")
        response.headers.add(name: "Cache-Control", value: "no-store")
        response.save(as: String(path.split(separator: "/").last ?? "take"))
        if file.isPart {
            let last = file.offset + file.length - 1
            response.headers.add(name: "Content-Range", value: "bytes \(file.offset)-\(last)/\(file.size)")
        }
        return response
    }

    private static func transcript(_ id: Int64, _ format: String, _ found: (name: String, text: String)?) -> Response {
        guard let found else {
            return Response(
                .notFound,
                Fault(
                    "there is no session \(id) as '\(format.prefix(20))'",
                    hint: "see the call transcripts; formats: txt, srt, vtt, json, md"))
        }
        let type =
            switch format {
            case "vtt": "text/vtt"
            case "srt": "application/x-subrip"
            case "md": "text/markdown"
            case "json": "application/jsonl"
            default: "text/plain"
            }
        var response = Response(.ok, type + "; charset=utf-8", found.text)
        response.headers.add(name: "Cache-Control", value: "no-store")
        response.save(as: found.name)
        return response
    }
}

extension Response {
    /// Says under which name it is saved (RFC 6266; other letters than those of ASCII as RFC 8187 has them).
    mutating func save(as name: String) {
        headers.replaceOrAdd(name: "Content-Disposition", value: Self.disposition(name))
    }

    /// A file of this name, to be saved; whatever is in the name stays within the quotes.
    static func disposition(_ name: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
            return letters.contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || "-._".utf8.contains(byte)
        }
        let plain = String(
            decoding: name.unicodeScalars.map { scalar in
                scalar.isASCII && isPlain(UInt8(scalar.value)) ? UInt8(scalar.value) : UInt8(ascii: "_")
            }, as: UTF8.self)
        let encoded = name.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain(byte) ? String(UnicodeScalar(byte)) : digits.count == 1 ? "%0" + digits : "%" + digits
        }.joined()
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
    }
}
