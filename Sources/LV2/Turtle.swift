// SPDX-License-Identifier: Apache-2.0
import CLilv

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

private struct TurtleHandler {
    let each: (TurtleStatement) -> Void
}
