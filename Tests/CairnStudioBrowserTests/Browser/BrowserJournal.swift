// What the browser tells by itself: errors of pages, and answers of servers.
//
// Threads: any.

import Foundation
import Synchronization
import Testing

/// What a browser's pages complained about, and what they were refused.
final class BrowserJournal: Sendable {
    private struct State {
        var problems: [String] = []
        var answers: [(address: String, status: Int)] = []
    }

    private let state = Mutex(State())

    private struct Event<Content: Decodable>: Decodable {
        let params: Content
    }

    private struct Exception: Decodable {
        struct Details: Decodable {
            struct Thrown: Decodable {
                let description: String?
            }
            let text: String
            let exception: Thrown?
        }
        let exceptionDetails: Details
    }

    private struct Printed: Decodable {
        struct Argument: Decodable {
            let description: String?
        }
        let type: String
        let args: [Argument]
    }

    private struct Logged: Decodable {
        struct Entry: Decodable {
            let source: String
            let level: String
            let text: String
        }
        let entry: Entry
    }

    private struct Answered: Decodable {
        struct Response: Decodable {
            let url: String
            let status: Int
        }
        let response: Response
    }

    /// Takes an event.
    func take(_ envelope: DevToolsPipe.Envelope, _ message: Data) {
        func content<Content: Decodable>(_ type: Content.Type) -> Content? {
            try? JSONDecoder().decode(Event<Content>.self, from: message).params
        }
        switch envelope.method {
        case "Runtime.exceptionThrown":
            let details = content(Exception.self)?.exceptionDetails
            add(details?.exception?.description ?? details?.text ?? "an exception")
        case "Runtime.consoleAPICalled":
            guard let printed = content(Printed.self), printed.type == "error" else { return }
            add(printed.args.compactMap(\.description).joined(separator: " "))
        case "Log.entryAdded":
            // The network's entries are answers such as 400 to a condition that cannot be read: pages show these.
            guard let entry = content(Logged.self)?.entry, entry.level == "error",
                entry.source != "network"
            else { return }
            add("\(entry.source): \(entry.text)")
        case "Network.responseReceived":
            guard let response = content(Answered.self)?.response else { return }
            state.withLock { $0.answers.append((response.url, response.status)) }
        default: break
        }
    }

    private func add(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }

    /// The status of each answer that came from a server.
    func statuses(from origin: String) -> [Int] {
        state.withLock { $0.answers }.filter { $0.address.hasPrefix(origin) }.map(\.status)
    }

    /// Forgets what pages complained about: where a test made them.
    func forget() {
        state.withLock { $0.problems = [] }
    }

    /// Fails the test for each problem.
    func report() {
        for problem in state.withLock({ $0.problems }) { Issue.record("the page says: \(problem)") }
    }
}
