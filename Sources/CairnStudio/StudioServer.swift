// The server: on 127.0.0.1 alone, until its task is cancelled.
//
// Threads: any; requests of several connections are answered at once.

import FlyingFox
import FlyingSocks
import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Serves the page and what is behind `/api/` to browsers of this machine.
package struct StudioServer: Sendable {
    /// The port cannot be had.
    package struct PortTaken: Error, CustomStringConvertible {
        package let description: String
    }

    private let port: UInt16
    private let answerer: any StudioAnswerer

    /// - Parameter port: 0: any that is free.
    package init(port: UInt16, answerer: any StudioAnswerer) {
        self.port = port
        self.answerer = answerer
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - started: called with the address that lets a browser in, once there is somebody to answer.
    ///   - announce: called with another address if that one was used twice.
    package func run(
        started: @escaping @Sendable (String) -> Void,
        announce: @escaping @Sendable (String) -> Void
    ) async throws {
        let server = HTTPServer(
            config: .init(
                address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
                // The answerer has its own limits, and what writes is never cut off.
                timeout: 7 * 24 * 3600, sharedRequestBufferSize: 64 << 10,
                logger: .disabled))
        let port = port
        let answerer = answerer
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await server.run()
                } catch let error as SocketError {
                    try Task.checkCancellation()
                    var reason = "\(error)"
                    if case .failed(_, _, let message) = error { reason = message }
                    throw PortTaken(
                        description: "cannot listen on port \(port) of 127.0.0.1: \(reason)")
                }
            }
            group.addTask {
                try await server.waitUntilListening(timeout: 60)
                guard case .ip4(_, let bound)? = await server.listeningAddress else { return }
                let gate = StudioGate(port: bound, announce: announce)
                await server.appendRoute("*", to: StudioHandler(gate: gate, answerer: answerer))
                started(gate.makeAddress())
            }
            do {
                // The one that waits ends first.
                while try await group.next() != nil {}
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }
}
