// The studio from the first line on the terminal to its end: the command's thread waits here for events from
// the server and the terminal. Only this thread prints.
//
// Ctrl-C ends the studio once running work is done; a second one ends the process immediately.
//
// Threads: the command's; events come from any.

import CairnStudio
import Dispatch
import Foundation
import Synchronization

/// A running studio.
final class StudioRun: Sendable {
    private enum Event: Sendable {
        case address(String, isFirst: Bool)
        case interrupted
        case ended((any Error)?)
    }

    private let waiting = Mutex<[Event]>([])
    private let bell = DispatchSemaphore(value: 0)
    private let port: UInt16

    init(port: UInt16) { self.port = port }

    /// Serves the page until the process gets a termination signal.
    ///
    /// - Parameter say: called with each address, and whether it is the first one.
    func serve(_ answers: StudioAnswers, _ say: (String, _ isFirst: Bool) -> Void) throws {
        let signals = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in tell(.interrupted) }
            source.resume()
            return (number, source)
        }
        func endSignals() {
            for (number, source) in signals {
                source.cancel()
                signal(number, SIG_DFL)
            }
        }
        defer { endSignals() }
        let server = StudioServer(port: port, answerer: answers)
        let serving = Task.detached { [self] in
            do {
                try await server.run(
                    started: { self.tell(.address($0, isFirst: true)) },
                    announce: { self.tell(.address($0, isFirst: false)) })
                tell(.ended(nil))
            } catch {
                tell(.ended(error))
            }
        }
        var isInterrupted = false
        while true {
            switch next() {
            case .address(let address, let isFirst): say(address, isFirst)
            case .interrupted:
                isInterrupted = true
                endSignals()
                answers.end()
                serving.cancel()
            case .ended(let error):
                if let error = error as? StudioServer.PortTaken {
                    throw Failure(error.description)
                }
                if let error, !isInterrupted { throw error }
                return
            }
        }
    }

    private func tell(_ event: Event) {
        waiting.withLock { $0.append(event) }
        bell.signal()
    }

    private func next() -> Event {
        bell.wait()
        return waiting.withLock { $0.removeFirst() }
    }
}
