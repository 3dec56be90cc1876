// Processes that tests of servers start: programs that end, and one that outlives the test's process to clean up.
//
// Every descriptor made here is closed in other children: a pipe of which a stranger has an end would never end.
//
// Threads: any. One lock keeps a child from being made while a descriptor is not yet marked so.

import CairnTestSupport
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

package struct ProgramFailure: Error, CustomStringConvertible {
    package let command: [String]
    package let status: Int32
    package let output: String

    package var description: String {
        "\(command.joined(separator: " ")) ended with \(status): \(output)"
    }
}

package enum ServerProcess {
    private static let making = Mutex(())

    /// Runs a program to its end and gives what it has written.
    package static func run(_ command: [String]) throws -> String {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("cairn-output-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let output = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        // A server that the program starts keeps its output: so it is a file, whose end nobody has to wait for.
        let child = try spawn(command, input: nil, output: output, inOwnGroup: false)
        let status = inTime(for: "the end of \(command)", within: OpenWait.patience) {
            wait(for: child)
        }
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        guard status == 0 else {
            throw ProgramFailure(command: command, status: status, output: text)
        }
        return text
    }

    /// Runs a shell script once this process has ended, however it does; ends at once when the descriptor is closed.
    package static func afterExit(_ script: String, _ arguments: [String]) throws -> Int32 {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        // The shell that waits is no child of this process: one that has ended and that nobody waits for would have those
        // who wait for any child, as tests that are to end their process do, wait for ever.
        let waiting = "trap '' HUP INT TERM; cat >/dev/null; \(script)"
        let body = "exec 3<&0; (\(waiting)) <&3 3<&- &"
        _ = wait(
            for: try spawn(
                ["/bin/sh", "-c", body, "cairn-after-exit"] + arguments, input: reading,
                output: nil, inOwnGroup: true))
        return writing
    }

    /// A pipe: the end that is read, and the one that is written.
    package static func pipe() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        let isMade = making.withLock { _ in
            #if canImport(Glibc)
                let code = Glibc.pipe(&ends)
            #elseif canImport(Musl)
                let code = Musl.pipe(&ends)
            #elseif canImport(Darwin)
                let code = Darwin.pipe(&ends)
            #endif
            return code == 0 && ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        }
        guard isMade else { throw CocoaError(.fileReadUnknown) }
        return (ends[0], ends[1])
    }

    /// Starts a program.
    ///
    /// - Parameter more: descriptors besides the three usual ones, by the number that the program has them under. Those
    ///   of this process must be larger than these numbers.
    package static func spawn(
        _ command: [String], input: Int32?, output: Int32?, inOwnGroup: Bool,
        more: [Int32: Int32] = [:]
    ) throws -> Int32 {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // Threads of tasks block signals, which a child would inherit: it could not be told to end.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        var flags = POSIX_SPAWN_SETSIGMASK
        // What a terminal sends to those in front of it is not meant for it.
        if inOwnGroup {
            flags |= POSIX_SPAWN_SETPGROUP
            posix_spawnattr_setpgroup(&attributes, 0)
        }
        posix_spawnattr_setflags(&attributes, CShort(flags))
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        for descriptor: Int32 in [1, 2] {
            if let output {
                posix_spawn_file_actions_adddup2(&actions, output, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
            }
        }
        for (number, descriptor) in more {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        // Else it keeps the connections of tests open that run beside it, whose ends others wait for.
        #if canImport(Glibc)
            closeDescriptors(from: (more.keys.max() ?? 2) + 1, in: &actions)
        #endif
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        // A folder that the server may be in, and texts that do not depend on who runs the tests.
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
        variables["LC_ALL"] = "C"
        var environment: [UnsafeMutablePointer<CChar>?] =
            variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in environment { free(word) } }
        var child: pid_t = 0
        let code = making.withLock { _ in
            posix_spawn(&child, command[0], &actions, &attributes, &words, &environment)
        }
        guard code == 0 else {
            throw ProgramFailure(
                command: command, status: code, output: String(cString: strerror(code)))
        }
        return child
    }

    /// Waits for the end of a program that `spawn` started, and gives the code of its exit.
    @discardableResult
    package static func wait(for child: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            if errno != EINTR { return -1 }
        }
        // The code of its exit, else the signal.
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// Waits on a thread of its own for the end of a program that leads its group; kills both if that takes too long.
    ///
    /// - Returns: whether it ended by itself.
    package static func end(_ child: Int32, within seconds: Int) async -> Bool {
        let ending = Ending()
        let alarm = Task {
            try await Task.sleep(for: .seconds(seconds))
            ending.isOver.withLock { isOver in
                if !isOver { kill(-child, SIGKILL) }
            }
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // Its number is not given to another before it is waited for, which the alarm must not miss.
                var information = siginfo_t()
                while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0,
                    errno == EINTR
                {}
                let status = ending.isOver.withLock { isOver in
                    isOver = true
                    return wait(for: child)
                }
                continuation.resume(returning: status < 128)
            }
        }
    }

    private final class Ending: Sendable {
        let isOver = Mutex(false)
    }
}
