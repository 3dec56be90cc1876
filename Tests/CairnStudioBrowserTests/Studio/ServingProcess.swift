// A program that serves something and prints a line when it does. It ends with the test's process, whatever happens to that.
//
// Threads: one.

import CairnTestSupport
import Foundation
import PostgresServers

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A process that runs as long as this object is there.
final class ServingProcess {
    /// The first line that it printed.
    let firstLine: String
    private let process: Int32
    private let input: Int32
    /// What it writes later goes here, where nobody reads it: a program may not stand that nobody could.
    private let output: Int32

    /// Starts a program and waits for its first line; without one it is empty.
    init(_ command: [String]) throws {
        let (inputRead, inputWritten) = try ServerProcess.pipe()
        let (outputRead, outputWritten) = try ServerProcess.pipe()
        input = inputWritten
        output = outputRead
        defer { close(inputRead) }
        // It is told to end when this end of the pipe is closed, also by the end of this process.
        let script =
            "\"$@\" </dev/null & served=$!; exec >/dev/null; cat; kill -TERM $served; wait $served"
        process = try ServerProcess.spawn(
            ["/bin/sh", "-c", script, "cairn-serving"] + command, input: inputRead,
            output: outputWritten, inOwnGroup: true)
        close(outputWritten)
        firstLine = inTime(for: "the first line of \(command)", within: OpenWait.patience) {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(outputRead, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
            return String(decoding: line, as: UTF8.self)
        }
    }

    deinit {
        close(input)
        let (process, output) = (process, output)
        // A thread of tasks must not wait here: there are as few as cores.
        Thread.detachNewThread {
            inTime(for: "a served program to end", within: OpenWait.patience) {
                _ = ServerProcess.wait(for: process)
            }
            close(output)
        }
    }
}
