// The state of a pool's connections, without connections, locks or time: every case is a unit test.
//
//   1. Who wants a connection queues, and is served in the order of coming.
//   2. The connection that was used last is lent first: the others become old and are closed.
//   3. Where none is idle, the right to open one is lent, as long as there are fewer than the limit.
//   4. Snapshots hold connections for as long as somebody likes: some are kept free of them, so that whoever writes gets
//      one. Who waits for a snapshot is passed by others then.
//
// Invariants: lent + idle <= limit; lentToSnapshots <= snapshotLimit. A connection that is being opened counts as lent.
// Threads: one; a value.

struct PoolState<Connection, Moment: Comparable> {
    enum Grant {
        /// Idle since that time.
        case idle(Connection, since: Moment)
        /// To be opened.
        case opening
        case closed
    }

    /// What a connection is for.
    enum Purpose {
        /// A short-lived request.
        case request
        /// A snapshot that is kept open.
        case snapshot
    }

    let limit: Int
    /// How many may be snapshots'.
    let snapshotLimit: Int
    private(set) var lent = 0
    private(set) var lentToSnapshots = 0
    private(set) var isClosed = false
    private var idle: [(connection: Connection, since: Moment)] = []
    private var queue: [(ticket: UInt64, purpose: Purpose)] = []
    private var tickets: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
        snapshotLimit = max(1, limit - max(1, limit / 4))
    }

    var idleCount: Int { idle.count }
    var waitingCount: Int { queue.count }

    /// Stands in line.
    mutating func enter(for purpose: Purpose = .request) -> UInt64 {
        tickets += 1
        queue.append((tickets, purpose))
        return tickets
    }

    /// Leaves the line without a connection.
    mutating func leave(_ ticket: UInt64) { queue.removeAll { $0.ticket == ticket } }

    /// What the ticket gets, if it is its turn.
    mutating func take(_ ticket: UInt64) -> Grant? {
        if isClosed {
            leave(ticket)
            return .closed
        }
        let next = queue.firstIndex {
            $0.purpose == .request || lentToSnapshots < snapshotLimit
        }
        guard let next, queue[next].ticket == ticket, lent < limit else { return nil }
        if queue.remove(at: next).purpose == .snapshot { lentToSnapshots += 1 }
        lent += 1
        guard let last = idle.popLast() else { return .opening }
        return .idle(last.connection, since: last.since)
    }

    /// Takes a connection back; what is to be closed is given back.
    mutating func giveBack(
        _ connection: Connection, of purpose: Purpose = .request, now: Moment
    ) -> Connection? {
        drop(purpose)
        guard !isClosed else { return connection }
        idle.append((connection, now))
        return nil
    }

    /// What was lent is gone.
    mutating func drop(_ purpose: Purpose = .request) {
        lent -= 1
        if purpose == .snapshot { lentToSnapshots -= 1 }
    }

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
