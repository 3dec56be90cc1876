// Several threads of which one runs at a time, and a seed that says which.
//
//   1. Each thread comes to a gate before whatever the others could see. There the seed decides whether it goes on, or which
//      other one does from its own gate.
//   2. Who is in vain for something that another one has rests: the others are preferred until something is given back, or
//      until it is asked for again all the same.
//
// So one seed gives one order of all that the threads do, as long as they wait for each other nowhere else: neither for a lock
// that another one keeps at a gate, nor for a time.
//
// Threads: only the one whose turn it is touches what changes; the semaphores hand it over.

import Foundation

package final class Interleaving: @unchecked Sendable {
    private struct Player {
        let turn = DispatchSemaphore(value: 0)
        var isOver = false
        var isResting = false
    }

    private var players: [Player]
    private var random: RandomSource
    /// Another one goes on at one in so many gates.
    private let calm: Int
    /// Somebody who rests is preferred at one in so many changes.
    private let patience: Int
    /// How many gates were passed, and how often another one went on.
    package private(set) var gates = 0
    package private(set) var changes = 0

    package init(players count: Int, seed: UInt64) {
        players = (0..<count).map { _ in Player() }
        random = RandomSource(seed: seed)
        calm = [1, 2, 2, 5, 15, 40].randomElement(using: &random)!
        patience = [4, 30, 200].randomElement(using: &random)!
    }

    /// Runs a closure for each player, on a thread of its own; returns when all have returned.
    package func run(
        _ file: StaticString = #fileID, _ line: UInt = #line,
        _ body: @escaping @Sendable (Int) -> Void
    ) {
        let threads = TestThreads()
        for number in players.indices {
            threads.start { [self] in
                players[number].turn.wait()
                body(number)
                players[number].isOver = true
                wake()
                if let next = choose() { players[next].turn.signal() }
            }
        }
        if let first = choose() { players[first].turn.signal() }
        threads.join(file, line)
    }

    /// A gate: returns when it is the player's turn.
    package func pass(_ player: Int) {
        gates += 1
        if !players[player].isResting, !random.oneIn(calm) { return }
        guard let next = choose(), next != player else {
            players[player].isResting = false
            return
        }
        changes += 1
        players[next].turn.signal()
        players[player].turn.wait()
    }

    /// The player has asked in vain for something that another one has.
    package func rest(_ player: Int) { players[player].isResting = true }

    /// Something was given back.
    package func wake() {
        for number in players.indices { players[number].isResting = false }
    }

    /// Who goes on; nil if all are through.
    private func choose() -> Int? {
        let open = players.indices.filter { !players[$0].isOver }
        let ready = open.filter { !players[$0].isResting }
        let all = ready.isEmpty || random.oneIn(patience) ? open : ready
        guard let next = all.randomElement(using: &random) else { return nil }
        players[next].isResting = false
        return next
    }
}
