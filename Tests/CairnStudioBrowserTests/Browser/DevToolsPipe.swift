// The DevTools protocol over two pipes: a browser that is started with --remote-debugging-pipe reads commands from its
// descriptor 3 and writes answers and events to its descriptor 4, each a JSON text that a NUL ends.
//
//   1. A thread reads; an answer goes to the task that waits for its number, an event to the listener.
//   2. When the browser or its page ends, all who wait get an error, as does one whose answer takes too long.
//
// Threads: any.

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

/// The connection to a browser.
final class DevToolsPipe: Sendable {
    /// The browser did not do what a command said, or has ended.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        /// Whether the script ended because its page was left.
        var isOfPageLeft: Bool {
            ["navigated", "context was destroyed", "Promise was collected"].contains {
                description.contains($0)
            }
        }
    }

    /// What tells what a message is.
    struct Envelope: Decodable {
        struct Problem: Decodable {
            let message: String
        }
        let id: Int?
        let method: String?
        let sessionId: String?
        let error: Problem?
    }

    private struct State {
        var lastNumber = 0
        var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let turn = Mutex(())
    private let writing: Int32
    private let listener: @Sendable (Envelope, Data) -> Void

    /// Takes both descriptors over.
    init(
        reading: Int32, writing: Int32, listener: @escaping @Sendable (Envelope, Data) -> Void
    ) {
        self.writing = writing
        self.listener = listener
        Thread.detachNewThread { self.read(reading) }
    }

    deinit { close(writing) }

    // MARK: Commands

    private struct Command: Encodable {
        let id: Int
        let method: String
        let params: [String: Parameter]
        let sessionId: String?
    }

    private struct Answer<Result: Decodable>: Decodable {
        let result: Result
    }

    /// Gives a command, and waits for what comes of it.
    func call<Result: Decodable>(
        _ method: String, _ parameters: [String: Parameter] = [:], session: String? = nil,
        as type: Result.Type
    ) async throws -> Result {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        // Longer than a page looks for what it waits for.
        let alarm = Task {
            try await Task.sleep(for: .seconds(300))
            fail(number, "no answer to \(method) in 300 seconds")
        }
        defer { alarm.cancel() }
        let message: Data = try await withCheckedThrowingContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.hasEnded { state.waiting[number] = continuation }
                return !state.hasEnded
            }
            guard isThere else {
                continuation.resume(throwing: Failure(description: "the browser has ended"))
                return
            }
            send(Command(id: number, method: method, params: parameters, sessionId: session))
        }
        return try JSONDecoder().decode(Answer<Result>.self, from: message).result
    }

    private func send(_ command: Command) {
        do {
            var bytes = try JSONEncoder().encode(command)
            bytes.append(0)
            // One at a time: commands of two tasks must not mix in the pipe. Not under the lock of answers: the browser reads no
            // command while nobody takes its answers.
            let isWritten = turn.withLock { _ in
                bytes.withUnsafeBytes { buffer in
                    var sent = 0
                    while sent < buffer.count {
                        let count = write(
                            writing, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
                        if count < 0, errno == EINTR { continue }
                        guard count > 0 else { return false }
                        sent += count
                    }
                    return true
                }
            }
            if !isWritten { fail(command.id, "the browser takes no commands") }
        } catch {
            fail(command.id, "\(error)")
        }
    }

    private func fail(_ number: Int, _ words: String) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?
            .resume(throwing: Failure(description: words))
    }

    // MARK: Answers

    private func read(_ descriptor: Int32) {
        var rest = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes -> Int in
                #if canImport(Glibc)
                    return Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                #elseif canImport(Musl)
                    return Musl.read(descriptor, bytes.baseAddress, bytes.count)
                #elseif canImport(Darwin)
                    return Darwin.read(descriptor, bytes.baseAddress, bytes.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest.append(contentsOf: buffer[..<count])
            while let end = rest.firstIndex(of: 0) {
                take(Data(rest[rest.startIndex..<end]))
                rest = Data(rest[(end + 1)...])
            }
        }
        close(descriptor)
        state.withLock { $0.hasEnded = true }
        failAll("the browser has ended")
    }

    private func failAll(_ words: String) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values {
            continuation.resume(throwing: Failure(description: words))
        }
    }

    private func take(_ message: Data) {
        guard let envelope = try? JSONDecoder().decode(Envelope.self, from: message) else { return }
        guard let number = envelope.id else {
            if envelope.method == "Inspector.targetCrashed" { failAll("the page has crashed") }
            listener(envelope, message)
            return
        }
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        if let problem = envelope.error {
            continuation?.resume(throwing: Failure(description: problem.message))
        } else {
            continuation?.resume(returning: message)
        }
    }
}
