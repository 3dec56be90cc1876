// Stands between clients and a server, passes on what they say, and cuts one connection at a place of the protocol.
//
//   let proxy = try CuttingProxy(to: server.port)
//   proxy.arm(.init(.toServer, message: 3, bytes: 1, .ends))
//   … a client that connects to proxy.port loses its connection after one byte of the fourth message that it sends from here on
//
// One cut at a time, and once: what is connected afterwards is left alone. Messages are counted over all connections; those by
// which a connection is made begin with the server's answer to the first one.
//
// Threads: any. Two for each connection, which end with it.

import Foundation
import Synchronization

package final class CuttingProxy: Sendable {
    package enum Direction: Sendable, CaseIterable { case toServer, toClient }

    /// What becomes of the connection.
    package enum Manner: Sendable, CaseIterable {
        /// Both see its end; the rest is lost.
        case ends
        /// The client sees its end, the server does not. What the client has said reaches the server when it is let go.
        case endsForClient
        /// Nobody sees anything, and nothing comes any more. What the client has said reaches the server when it is let go.
        case silent
    }

    package struct Cut: Sendable {
        package let direction: Direction
        /// Before which message, from 0.
        package let message: Int
        /// How many bytes of it pass: fewer than it has.
        package let bytes: Int
        package let manner: Manner

        package init(_ direction: Direction, message: Int, bytes: Int = 0, _ manner: Manner) {
            self.direction = direction
            self.message = message
            self.bytes = bytes
            self.manner = manner
        }
    }

    /// A connection of a client and one to the server.
    private final class Pair: Sendable {
        let client: StreamSocket
        let server: StreamSocket
        /// What passes no more, and what of it the server has not got.
        let held = Mutex<[UInt8]?>(nil)
        /// How many of the two directions are at their end.
        let ends = Atomic(0)

        init(_ client: StreamSocket, _ server: StreamSocket) {
            self.client = client
            self.server = server
        }
    }

    private struct State {
        var cut: Cut?
        var counts: [Direction: Int] = [:]
        var pairs: [Pair] = []
        var isCut = false
    }

    /// What the threads have: they must not keep the proxy.
    private final class Board: Sendable {
        let state = Mutex(State())
    }

    package let port: Int
    private let listener: StreamSocket
    private let board = Board()

    /// - Parameter target: the port of the server on this machine.
    package init(to target: Int) throws {
        port = try FreePort.find()
        listener = try StreamSocket.listening(port)
        let (listener, board) = (listener, board)
        Thread.detachNewThread {
            while let client = listener.accepted() {
                guard let server = try? StreamSocket.connected(to: target) else {
                    client.end()
                    continue
                }
                let pair = Pair(client, server)
                board.state.withLock { $0.pairs.append(pair) }
                for direction in Direction.allCases {
                    Thread.detachNewThread { Self.pass(pair, direction, board) }
                }
            }
        }
    }

    deinit {
        listener.end()
        board.state.withLock { state in
            for pair in state.pairs {
                pair.client.end()
                pair.server.end()
            }
        }
    }

    /// Counts from here on, and cuts there.
    package func arm(_ cut: Cut?) {
        board.state.withLock { state in
            state.cut = cut
            state.counts = [:]
            state.isCut = false
        }
    }

    /// How many messages there were since it was armed.
    package func count(_ direction: Direction) -> Int {
        board.state.withLock { $0.counts[direction] ?? 0 }
    }

    /// Whether it has cut since it was armed.
    package var hasCut: Bool { board.state.withLock { $0.isCut } }

    /// Has the server get what was held back, and then the end; waits until it has done what that says.
    package func letGo() {
        let pairs = board.state.withLock { $0.pairs }
        for pair in pairs {
            guard let held = pair.held.withLock({ $0 }) else { continue }
            if pair.server.write(held[...]) { pair.server.endWriting() }
            while pair.ends.load(ordering: .acquiring) < 2 { Thread.sleep(forTimeInterval: 0.002) }
        }
    }

    // MARK: Passing

    private static func pass(_ pair: Pair, _ direction: Direction, _ board: Board) {
        let isToServer = direction == .toServer
        let (source, target) = isToServer ? (pair.client, pair.server) : (pair.server, pair.client)
        var messages = MessageCounter(isClient: isToServer)
        while true {
            let bytes = source.read()
            if bytes.isEmpty { break }
            guard let (place, manner) = cutPlace(bytes, direction, &messages, board) else {
                let isHeld = pair.held.withLock { held in
                    guard held != nil else { return false }
                    if isToServer { held? += bytes }
                    return true
                }
                if !isHeld, !target.write(bytes[...]) { break }
                continue
            }
            _ = target.write(bytes[..<place])
            if manner == .ends {
                pair.client.end()
                pair.server.end()
                break
            }
            pair.held.withLock { $0 = isToServer ? Array(bytes[place...]) : [] }
            if manner == .endsForClient {
                // The rest of what it has said is on its way.
                while isToServer, source.isReadable(within: 50) {
                    let more = source.read()
                    if more.isEmpty { break }
                    pair.held.withLock { $0? += more }
                }
                pair.client.end()
            }
        }
        // A client that is gone is no news for a server from which it is hidden.
        let isHidden = pair.held.withLock { $0 != nil }
        if !isHidden { target.endWriting() }
        if pair.ends.add(1, ordering: .acquiringAndReleasing).newValue == 2 {
            board.state.withLock { state in state.pairs.removeAll { $0 === pair } }
        }
    }

    /// Counts the messages of a piece; where it is cut, and how.
    private static func cutPlace(
        _ bytes: [UInt8], _ direction: Direction, _ messages: inout MessageCounter, _ board: Board
    ) -> (Int, Manner)? {
        board.state.withLock { state in
            for start in messages.starts(in: bytes[...]) {
                let number = state.counts[direction, default: 0]
                state.counts[direction] = number + 1
                guard let cut = state.cut, cut.direction == direction, cut.message == number else {
                    continue
                }
                state.cut = nil
                state.isCut = true
                return (min(start + cut.bytes, bytes.count), cut.manner)
            }
            return nil
        }
    }
}
