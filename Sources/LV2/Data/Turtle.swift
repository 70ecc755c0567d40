// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc

/// One statement of a Turtle file. The texts are valid during the call that brings them only.
struct TurtleStatement {
    let subject, predicate, object: UnsafePointer<CChar>
    /// Nil: no text in some language.
    let language: UnsafePointer<CChar>?
}

/// Where and how a Turtle file breaks the rules.
struct TurtleMistake: Error, Equatable {
    var path: String
    /// From 1; 0: the file cannot be read at all.
    var line, column: Int
    var text: String

    /// `file:line:column: text`, with the file's name only.
    var brief: String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return line > 0 ? "\(name):\(line):\(column): \(text)" : "\(name): \(text)"
    }
}

/// Reads a Turtle file statement by statement; throws its first mistake after what came before it. [control]
func readTurtle(_ path: String, _ each: (TurtleStatement) -> Void) throws(TurtleMistake) {
    var error = vg_turtle_error()
    let complete = withoutActuallyEscaping(each) { each in
        withUnsafePointer(to: TurtleHandler(each: each)) { handler in
            vg_turtle_read(
                path, UnsafeMutableRawPointer(mutating: handler),
                { handler, subject, predicate, object, language in
                    let handler = handler.assumingMemoryBound(to: TurtleHandler.self)
                    handler.pointee.each(
                        TurtleStatement(subject: subject, predicate: predicate, object: object, language: language))
                }, &error)
        }
    }
    guard !complete else { return }
    let text = withUnsafePointer(to: &error.text) {
        String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
    }
    throw TurtleMistake(path: path, line: Int(error.line), column: Int(error.column), text: text)
}

/// The object of the first statement with a predicate, as far as the file can be read. [control]
func object(of predicate: UnsafePointer<CChar>, in path: String) -> String? {
    var found: String?
    do throws(TurtleMistake) {
        try readTurtle(path) {
            if found == nil, strcmp($0.predicate, predicate) == 0 { found = String(cString: $0.object) }
        }
    } catch {
        return found  // what is wrong is told by whoever reads all of it
    }
    return found
}

private struct TurtleHandler {
    let each: (TurtleStatement) -> Void
}
