// Who has which connection of a pool, without connections, locks or time: every case is a unit test.
//
//   1. Who wants a connection queues, and is served in the order of coming.
//   2. The connection that was used last is lent first: the others become old and are closed.
//   3. Where none is idle, the right to open one is lent, as long as there are fewer than the limit.
//
// Invariant: lent + idle <= limit. A connection that is being opened counts as lent.
// Threads: one; a value.

struct PoolState<Connection, Moment: Comparable> {
    enum Grant {
        /// It has been idle since then.
        case idle(Connection, since: Moment)
        /// To be opened.
        case opening
        case closed
    }

    let limit: Int
    private(set) var lent = 0
    private(set) var isClosed = false
    private var idle: [(connection: Connection, since: Moment)] = []
    private var queue: [UInt64] = []
    private var tickets: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    var idleCount: Int { idle.count }
    var waitingCount: Int { queue.count }

    /// Stands in line.
    mutating func enter() -> UInt64 {
        tickets += 1
        queue.append(tickets)
        return tickets
    }

    /// Leaves the line without a connection.
    mutating func leave(_ ticket: UInt64) { queue.removeAll { $0 == ticket } }

    /// What the ticket gets, if it is its turn.
    mutating func take(_ ticket: UInt64) -> Grant? {
        if isClosed {
            leave(ticket)
            return .closed
        }
        guard queue.first == ticket else { return nil }
        if let last = idle.popLast() {
            queue.removeFirst()
            lent += 1
            return .idle(last.connection, since: last.since)
        }
        guard lent < limit else { return nil }
        queue.removeFirst()
        lent += 1
        return .opening
    }

    /// Takes a connection back; what is to be closed is given back.
    mutating func giveBack(_ connection: Connection, now: Moment) -> Connection? {
        lent -= 1
        guard !isClosed else { return connection }
        idle.append((connection, now))
        return nil
    }

    /// What was lent is gone.
    mutating func drop() { lent -= 1 }

    /// Takes out what has been idle since before that.
    mutating func removeIdle(before moment: Moment) -> [Connection] {
        let count = idle.prefix { $0.since < moment }.count
        defer { idle.removeFirst(count) }
        return idle.prefix(count).map(\.connection)
    }

    mutating func close() -> [Connection] {
        isClosed = true
        defer { idle = [] }
        return idle.map(\.connection)
    }
}
