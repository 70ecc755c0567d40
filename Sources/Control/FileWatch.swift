// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Host
import System

/// Tells when files change. The folders are watched, not the files, since editors put a new file in the old one's place;
/// and so is the folder of each symbolic link that leads to them, wherever it stands in the path. Several changes in quick succession are told once.
public final class FileWatch: @unchecked Sendable {
    // Sendable: everything happens on `queue`.
    private let queue = DispatchQueue(label: "voicegraph.watch")
    private let descriptor: Int32
    private let changed: @Sendable () -> Void
    private var source: (any DispatchSourceRead)?
    /// The folders by their watch, and the names in them that matter.
    private var names: [Int32: Set<String>] = [:]
    private var files: [String] = []
    private var due: DispatchWorkItem?
    private var firstChange: DispatchTime?

    /// A change is told when there was none after it for so long, or after ten times as long in any case.
    static let rest = 0.1
    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | Int32(IN_ONLYDIR))

    /// Watches nothing yet; `changed` is called on a thread of its own. [any]
    public init(changed: @escaping @Sendable () -> Void) throws(Fault) {
        self.changed = changed
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else {
            throw Fault(
                "files cannot be watched: \(reason(errno))", hint: "see /proc/sys/fs/inotify/max_user_instances")
        }
        let descriptor = descriptor
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.read() }
        source.setCancelHandler { close(descriptor) }
        self.source = source
        source.resume()
    }

    deinit { source?.cancel() }

    /// Now, by the clock with which the kernel stamps files; see `watch`. [any]
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return seconds(time)
    }

    /// From now on these files are watched, and no others. Those that are not there are told when they come. What has
    /// changed since `time`, as `now` was before they were read, is told as well. [any]
    public func watch(_ files: [String], since time: Double = .infinity) {
        queue.sync {
            self.files = files
            arm()
            // A rename leaves the time of the text and changes that of the entry.
            if files.contains(where: { Self.changeTime($0) >= time }) { settle() }
        }
    }

    private static func changeTime(_ file: String) -> Double {
        FilePlace.all(of: file).map { place in
            var entry = stat()
            return lstat(place.path, &entry) == 0 ? seconds(entry.st_ctim) : -.infinity
        }.max() ?? -.infinity
    }

    private static func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9 }

    private func arm() {
        var wanted: [Int32: Set<String>] = [:]
        for place in files.flatMap(FilePlace.all) {
            let watch = inotify_add_watch(descriptor, place.folder, Self.mask)
            if watch >= 0 { wanted[watch, default: []].insert(place.name) }
        }
        for watch in names.keys where wanted[watch] == nil { inotify_rm_watch(descriptor, watch) }
        names = wanted
    }

    private func read() {
        var isNews = false
        var isLost = false
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                    let start = offset + MemoryLayout<inotify_event>.size
                    offset = start + Int(event.len)
                    let name = String(decoding: buffer[start..<offset].prefix { $0 != 0 }, as: UTF8.self)
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isNews = true }
                    if event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF) != 0 { isLost = names[event.wd] != nil }
                    if names[event.wd]?.contains(name) == true { isNews = true }
                }
            }
        }
        if isNews { settle() }
        if isLost { lookAgain() }
    }

    private func settle() {
        let first = firstChange ?? .now()
        firstChange = first
        due?.cancel()
        let work = DispatchWorkItem { [weak self] in
            self?.firstChange = nil
            self?.arm()
            self?.changed()
        }
        due = work
        queue.asyncAfter(deadline: min(.now() + Self.rest, first + 10 * Self.rest), execute: work)
    }

    /// A folder is gone; another may come in its place.
    private func lookAgain() {
        arm()
        if files.allSatisfy({ access($0, R_OK) == 0 }) { return settle() }
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.lookAgain() }
    }
}
