// The statements that a connection has prepared, by their text.
//
//   1. A statement that is used for the first time is prepared in the same round trip in which it is carried out.
//   2. It was prepared with types for its values. A NULL fits each; a value of another type does not, and the
//      statement is prepared anew: a cell of eight bytes must not be taken for one of four.
//   3. When there are too many, the one that was not used for longest goes: its name is closed with a later batch,
//      so that the server does not keep what nobody asks for again.
//
// CockroachDB knows all of this. A pooler that gives each transaction another connection has to know prepared
// statements itself (PgBouncer from 1.21 with `max_prepared_statements`, and libpq 17 here, since it does not see a
// DEALLOCATE in SQL); else `cairn_prepared_statements=0` prepares none.
//
// Invariants: a name is never used twice; what waits for its answer is not closed.
// Threads: one; a value.

struct PreparedStatements {
    final class Entry {
        let sql: String
        let name: String
        fileprivate(set) var types: [SQLType]
        fileprivate var lastUse: UInt64
        /// The segment that is preparing it; nil after the server has confirmed it.
        fileprivate var segment: UInt64?

        fileprivate init(
            _ sql: String, name: String, types: [SQLType], lastUse: UInt64, segment: UInt64
        ) {
            self.sql = sql
            self.name = name
            self.types = types
            self.lastUse = lastUse
            self.segment = segment
        }
    }

    /// How a statement is to be sent.
    enum Use {
        case prepared(Entry)
        /// Must be prepared first, with the entry's types.
        case toPrepare(Entry)
        /// Without a name.
        case unprepared
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var uses: UInt64 = 0
    private var names: UInt64 = 0
    private var segment: UInt64 = 0
    private var unclosed: [String] = []

    init(limit: Int) { self.limit = limit }

    var count: Int { entries.count }

    /// A new part of a batch that does not depend on those before it.
    mutating func beginSegment() { segment += 1 }

    mutating func use(_ sql: String, _ types: [SQLType]) -> Use {
        guard limit > 0 else { return .unprepared }
        uses += 1
        var types = types
        if let entry = entries[sql] {
            // The segment that prepares it may fail, and this one has to work by itself.
            if let preparing = entry.segment, preparing != segment { return .unprepared }
            if entry.fits(types) {
                entry.lastUse = uses
                return .prepared(entry)
            }
            // Types that are known stay, so that NULLs here and there do not prepare it again and again.
            if entry.types.count == types.count {
                for index in types.indices where types[index] == .unspecified {
                    types[index] = entry.types[index]
                }
            }
            close(entry)
        }
        while entries.count >= limit, let oldest = oldest { close(oldest) }
        names += 1
        let entry = Entry(
            sql, name: "cairn_\(names)", types: types, lastUse: uses, segment: segment)
        entries[sql] = entry
        return .toPrepare(entry)
    }

    /// The server has prepared it.
    func confirm(_ entry: Entry) { entry.segment = nil }

    /// The server has not prepared it.
    mutating func forget(_ entry: Entry) {
        if entries[entry.sql] === entry { entries[entry.sql] = nil }
    }

    /// The server's plan for it is of no use, or it knows none.
    mutating func renew(_ sql: String) {
        if let entry = entries[sql] { close(entry) }
    }

    /// The names that the server keeps in vain; they are the caller's to close.
    mutating func takeUnclosed() -> [String] {
        defer { unclosed = [] }
        return unclosed
    }

    private mutating func close(_ entry: Entry) {
        entries[entry.sql] = nil
        unclosed.append(entry.name)
    }

    private var oldest: Entry? {
        entries.values.lazy.filter { $0.segment == nil }.min { $0.lastUse < $1.lastUse }
    }
}

extension PreparedStatements.Entry {
    fileprivate func fits(_ other: [SQLType]) -> Bool {
        types.count == other.count
            && zip(types, other).allSatisfy { $1 == .unspecified || $0 == $1 }
    }
}
