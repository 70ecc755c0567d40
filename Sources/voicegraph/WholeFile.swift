// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes a file at once or not at all: beside its place first, under another name. What is no regular file, such as a
/// pipe, is written to directly. Throws where it cannot be written.
func writeWhole(_ bytes: [UInt8], to path: String) throws {
    var facts = stat()
    let isSpecial = stat(path, &facts) == 0 && facts.st_mode & S_IFMT != S_IFREG
    let written = isSpecial ? path : path + ".part-\(getpid())"
    let file = open(written, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    // A full disk may show only on closing.
    var isWhole = file >= 0 && writeOut(bytes, to: file)
    var number = errno
    if file >= 0, close(file) != 0, isWhole { (isWhole, number) = (false, errno) }
    if isWhole, !isSpecial, rename(written, path) != 0 { (isWhole, number) = (false, errno) }
    if isWhole { return }
    if !isSpecial { unlink(written) }
    throw fail("\(path) cannot be written: \(String(cString: strerror(number)))")
}
