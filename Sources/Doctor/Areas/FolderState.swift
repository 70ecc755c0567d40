// SPDX-License-Identifier: Apache-2.0
import Archive
import Control
import Drivers
import Glibc
import Graph
import Host
import System

/// Where sockets and data lie, whether these places can be written, and how much room there is.
struct FolderState: Sendable {
    /// One of them.
    struct Place: Sendable {
        /// What lies there.
        var name: String
        var path: String
        /// Whether it is there.
        var exists = true
        /// Whether it, or where it is not there the folder that it would be made in, can be written.
        var isWritable = true
        /// Bytes for this user; nil: not known.
        var free: Int?
        /// Whether it matters that it can be written.
        var isWritten = true
    }

    var places: [Place] = []
    /// Why the folder of sockets cannot be used, and what to do; nil: it can.
    var socketFault: Fault?
    /// Whether $XDG_RUNTIME_DIR says where sockets lie.
    var hasRuntimeFolder = true
    /// Bytes that are free in /dev/shm, and all that it has; nil: it is not there.
    var shared: (free: Int, size: Int)?
    var isSharedWritable = true

    /// Of a recording in stereo at 48 kHz in 32 bits.
    private static let bytesPerHour = 48_000 * 2 * 4 * 3600

    /// What there is to say of each.
    func findings() -> [Finding] {
        let area = DoctorArea.folders
        var findings: [Finding] = []
        if !hasRuntimeFolder {
            findings.append(
                area.warning(
                    "XDG_RUNTIME_DIR is not set: sockets lie in a folder among temporary files",
                    do: "log in by PAM and systemd, or set it to a private folder that is emptied at the start"))
        }
        if let socketFault {
            findings.append(
                area.warning(
                    "no run can be reached from outside: \(socketFault.message)", do: socketFault.hint))
        }
        for place in places { findings.append(look(place)) }
        if let free = places.first(where: { $0.name == "data" })?.free, free < 1 << 30 {
            let minutes = free / (Self.bytesPerHour / 60)
            findings.append(
                area.warning(
                    "only \(size(free)) are free where data lies: \(minutes) minutes of a recording in stereo",
                    do: "make room there, or let XDG_DATA_HOME name another place"))
        }
        findings.append(sharedMemory)
        return findings
    }

    private func look(_ place: Place) -> Finding {
        let area = DoctorArea.folders
        let room = place.free.map { ", \(size($0)) free" } ?? ""
        if place.isWritten, !place.isWritable {
            return area.warning(
                "\(place.name): \(place.path) cannot be written",
                do: place.exists
                    ? "give it to this user (chown), or let HOME or XDG_..._HOME name another place"
                    : "make it, and give it to this user")
        }
        return area.fine("\(place.name): \(place.path)\(place.exists ? room : " (not there yet)")")
    }

    private var sharedMemory: Finding {
        let area = DoctorArea.folders
        guard let shared else {
            return area.warning(
                "there is no /dev/shm, without which no JACK server runs", do: "mount -t tmpfs tmpfs /dev/shm")
        }
        if !isSharedWritable {
            return area.warning("/dev/shm cannot be written, so that JACK does not work", do: "chmod 1777 /dev/shm")
        }
        if shared.free < SharedMemory.needed {
            return area.warning(
                "only \(size(shared.free)) are free in /dev/shm, where JACK has its buffers",
                do: "remove what is left there of programs that ended, or mount -o remount,size=256M /dev/shm (of a "
                    + "container: --shm-size=256m)")
        }
        return area.fine("shared memory: \(size(shared.free)) of \(size(shared.size)) are free in /dev/shm")
    }
}

extension FolderState {
    /// Looks at them, and changes nothing. [control]
    static func read() -> FolderState {
        let folders = UserFolders()
        let control = ControlFolder.standard()
        var state = FolderState()
        state.hasRuntimeFolder = variable("XDG_RUNTIME_DIR") != nil
        state.socketFault = control.fault()
        let plugins = PluginSearch.standard().folders.map(\.path)
        state.places = [
            look("sockets", control.path), look("data", folders.data), look("models", folders.models),
            look("archive", Archive.standardPath), look("cache", folders.cache),
        ]
        for path in plugins where access(path, F_OK) == 0 {
            var place = look("plugins", path)
            (place.isWritten, place.free) = (false, nil)
            state.places.append(place)
        }
        if let space = space("/dev/shm") { state.shared = space }
        state.isSharedWritable = access("/dev/shm", W_OK) == 0
        return state
    }

    private static func look(_ name: String, _ path: String) -> Place {
        var place = Place(name: name, path: path)
        place.exists = access(path, F_OK) == 0
        // What is not there is made in the first folder above it that is.
        var there = path
        while access(there, F_OK) != 0, let slash = there.lastIndex(of: "/"), slash != there.startIndex {
            there = String(there[..<slash])
        }
        place.isWritable = access(there, W_OK) == 0
        place.free = space(there)?.free
        return place
    }

    private static func space(_ path: String) -> (free: Int, size: Int)? {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        let unit = Int(clamping: space.f_frsize)
        return (Int(clamping: space.f_bavail) * unit, Int(clamping: space.f_blocks) * unit)
    }
}
