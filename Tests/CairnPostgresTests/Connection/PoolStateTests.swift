import Testing

@testable import CairnPostgres

@Suite("Who has which connection of a pool")
struct PoolStateTests {
    typealias State = PoolState<String, Int>

    private func name(_ grant: State.Grant?) -> String {
        switch grant {
        case nil: "none"
        case .opening: "opening"
        case .closed: "closed"
        case .idle(let connection, let since): "\(connection) \(since)"
        }
    }

    @Test("up to the limit may be opened; the next waits until one comes back")
    func limit() {
        var state = State(limit: 2)
        let tickets = (0..<3).map { _ in state.enter() }
        #expect(tickets.map { name(state.take($0)) } == ["opening", "opening", "none"])
        #expect(state.lent == 2 && state.waitingCount == 1)
        #expect(state.giveBack("a", now: 5) == nil)
        #expect(name(state.take(tickets[2])) == "a 5")
        #expect(state.lent == 2 && state.idleCount == 0 && state.waitingCount == 0)
    }

    @Test("who came first is served first, though another asks first")
    func order() {
        var state = State(limit: 1)
        let first = state.enter()
        let second = state.enter()
        #expect(name(state.take(second)) == "none")
        #expect(name(state.take(first)) == "opening")
        state.drop()
        #expect(name(state.take(second)) == "opening")
    }

    @Test("who leaves the line lets the others pass")
    func leaves() {
        var state = State(limit: 1)
        let first = state.enter()
        let second = state.enter()
        state.leave(first)
        #expect(name(state.take(second)) == "opening")
        #expect(name(state.take(first)) == "none")
    }

    @Test("some stay free of snapshots, and who waits for one of those is passed by others")
    func snapshots() {
        var state = State(limit: 4)
        #expect(state.snapshotLimit == 3)
        for _ in 0..<3 { #expect(name(state.take(state.enter(for: .snapshot))) == "opening") }
        let fourth = state.enter(for: .snapshot)
        #expect(name(state.take(fourth)) == "none")
        #expect(name(state.take(state.enter())) == "opening")
        let request = state.enter()
        #expect(name(state.take(request)) == "none")
        #expect(state.giveBack("a", now: 1) == nil)
        // It is for a request alone.
        #expect(name(state.take(fourth)) == "none")
        #expect(name(state.take(request)) == "a 1")
        #expect(state.giveBack("b", of: .snapshot, now: 2) == nil)
        #expect(name(state.take(fourth)) == "b 2")
        state.drop(.snapshot)
        #expect(state.lent == 3 && state.lentToSnapshots == 2)
        #expect(State(limit: 1).snapshotLimit == 1)
        #expect(State(limit: 8).snapshotLimit == 6)
    }

    @Test("the one used last is lent first, and the old ones are taken out")
    func lastFirst() {
        var state = State(limit: 3)
        for _ in 0..<3 { _ = state.take(state.enter()) }
        for (name, moment) in [("a", 1), ("b", 2), ("c", 3)] {
            #expect(state.giveBack(name, now: moment) == nil)
        }
        #expect(state.removeIdle(before: 2) == ["a"])
        #expect(name(state.take(state.enter())) == "c 3")
        #expect(state.idleCount == 1)
    }

    @Test("after closing nothing is lent, and what comes back is to be closed")
    func closing() {
        var state = State(limit: 2)
        for _ in 0..<2 { _ = state.take(state.enter()) }
        let waiting = state.enter()
        #expect(state.giveBack("a", now: 1) == nil)
        #expect(state.close() == ["a"])
        #expect(name(state.take(waiting)) == "closed")
        #expect(state.giveBack("b", now: 2) == "b")
        #expect(state.lent == 0 && state.idleCount == 0)
    }
}
