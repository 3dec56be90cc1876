// A child process whose lines are read as they come, and which is killed.
//
// Foundation's Process has threads and a run loop for what is two calls here.
// Threads: one.

import CairnTestSupport
import Foundation

final class ChildProcess {
    /// The program beside the tests that is killed; nil if it was not built.
    static let writer: String? = {
        let url = URL(fileURLWithPath: CommandLine.arguments[0])
            .deletingLastPathComponent().appendingPathComponent("CairnKilledWriter")
        return FileManager.default.isExecutableFile(atPath: url.path) ? url.path : nil
    }()

    struct Failure: Error {
        let what: String
    }

    private let process: pid_t
    private let output: Int32
    private var rest: [UInt8] = []
    private var hasEnded = false

    /// Starts a program with its standard output in a pipe.
    init(_ program: String, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(what: "no pipe: \(errno)") }
        defer { close(ends[1]) }
        // Other children of this process must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        #if canImport(Glibc)
            // Nor must it keep connections of other tests open.
            closeDescriptors(from: 3, in: &actions)
        #endif
        var words = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, program, &actions, nil, words, environ)
        guard code == 0 else {
            close(ends[0])
            throw Failure(what: "\(program) does not start: \(code)")
        }
        process = started
        output = ends[0]
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
    }

    deinit {
        if !hasEnded {
            kill(process, SIGKILL)
            var status: Int32 = 0
            inTime(for: "the killed process to end") { _ = waitpid(process, &status, 0) }
        }
        close(output)
    }

    /// The lines that came within a time; nil at the end of the output.
    func lines(within duration: Duration) -> [Substring]? {
        // Less than a millisecond is no time to sleep.
        let milliseconds = max(0, duration / .milliseconds(1))
        var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, Int32(milliseconds)) > 0 else { return [] }
        return readLines()
    }

    private func readLines() -> [Substring]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(output, &buffer, buffer.count)
        if count == 0 { return nil }
        guard count > 0 else { return [] }
        rest += buffer[..<count]
        guard let last = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let text = String(decoding: rest[..<last], as: UTF8.self)
        rest.removeSubrange(...last)
        return text.split(separator: "\n")
    }

    /// Stops it where it is.
    func pause() { kill(process, SIGSTOP) }

    /// Lets it go on.
    func goOn() { kill(process, SIGCONT) }

    /// Kills it, waits for its end, and gives the lines that had not been read.
    func end() -> (lines: [Substring], wasKilled: Bool) {
        kill(process, SIGKILL)
        var status: Int32 = 0
        inTime(for: "the killed process to end") {
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        hasEnded = true
        var lines: [Substring] = []
        while let more = readLines(), !more.isEmpty { lines += more }
        return (lines, status & 0x7F == SIGKILL)
    }
}
