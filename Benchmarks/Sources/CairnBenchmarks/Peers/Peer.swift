// What a peer can be asked to do: whole pieces of work, so that what is measured is inside the peer and no
// call per row goes through this protocol, but for what is a request of its own.
//
// A peer checks uniqueness by itself, and traps where a row that must be new is not.
// Threads: a handle is used by one thread at a time; `another` gives one for a further thread.

/// When a commit returns.
enum Durability: Sendable {
    /// When it is on the disk.
    case full
    /// When others see it; a crash of the machine may lose the last ones.
    case relaxed
}

/// A peer does not offer what it was asked for.
struct NotOffered: Error {
    let reason: String
}

/// The indexes of products.
enum Indexes: Sendable {
    /// That of their serial code, which is unique.
    case keys
    /// The same, in the order of the codes: of its own for who tells unique keys apart by hashes.
    case orderedKeys
    /// Beside the first one on their price, and one on the time of their update.
    case columns
}

/// What became of the rows when a list was imported.
struct ListChanges: Sendable, Equatable {
    var inserted = 0
    var updated = 0
    var deleted = 0
}

protocol Peer: AnyObject, Sendable {
    /// How it is set up, for the report.
    static var settings: String { get }
    /// Workloads that it has no request of its own for, and what a program does instead. The report marks them.
    static var byHand: [String: String] { get }

    /// Opens what is in a folder, which is there; or makes it.
    ///
    /// - Parameter indexes: the indexes that products have.
    init(at folder: String, durability: Durability, indexes: Indexes) throws
    /// A handle of its own for a further thread.
    func another() throws -> Self
    /// Ends the use, as a program does that means to open it again.
    func close() throws

    /// Inserts rows that are new, in one transaction.
    func insert(_ rows: ArraySlice<Product>) throws
    /// The same from dictionaries.
    func insert(dictionaries: [[String: Any]]) throws
    /// Inserts rows, or updates those whose serial code is stored, in one transaction.
    func upsert(_ rows: ArraySlice<Product>) throws

    /// One row by its serial code, by a request of its own.
    func find(_ key: String) throws -> Product?
    /// The same by a predicate that the compiler checks.
    func findByPredicate(_ key: String) throws -> Product?
    /// The rows of many serial codes, in one go.
    func lookup(_ keys: [String], _ body: (Product) -> Void) throws
    /// How many rows match the filter.
    func countMatches() throws -> Int
    /// The rows that match the filter.
    func matches(_ body: (Product) -> Void) throws
    /// Every row.
    func every(_ body: (Product) -> Void) throws
    /// The rows at and after a serial code, in its order.
    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws
    /// The rows that were updated last, through the index; or the cheapest, and of equally cheap ones those that were
    /// inserted first.
    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) throws
    /// The rows with a price in a range, through the index.
    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) throws
    /// The rows that have one of some serial codes, by one request with all of them.
    func among(_ keys: [String], _ body: (Product) -> Void) throws
    /// The groups of at least two rows with the same text.
    func groups(by text: ProductText) throws -> Groups

    /// Makes what is stored what a whole list says, in one transaction: rows that say something new are inserted or updated
    /// by their serial codes, those that the list lacks are deleted, and what is equal is not written.
    func synchronize(_ list: [Product]) throws -> ListChanges

    /// Deletes the rows that have the flag, in one transaction; how many.
    func deleteFlagged() throws -> Int
    /// Multiplies the price of every row, in one transaction.
    func multiplyPrices(by factor: Double) throws

    /// Stores parents 0..<count with their children.
    func insertFamilies(_ count: Int) throws
    /// Learns how the parents are named here, outside the clock.
    func findParents() throws
    /// The children of parents by their numbers.
    func children(of parents: [Int], _ body: (Child) -> Void) throws

    /// Holds every row as long as the closure runs, in the form in which the peer gives rows to programs;
    /// without their values if it can.
    func hold(withValues: Bool, _ body: () throws -> Void) throws

    /// Has a list of all rows, by category, price and serial code, as long as the closure runs.
    func follow(_ body: (any FollowingList) throws -> Void) throws
}

extension Peer {
    static var byHand: [String: String] { [:] }

    func findByPredicate(_ key: String) throws -> Product? {
        throw NotOffered(reason: "has no predicates of Foundation")
    }

    func insert(dictionaries: [[String: Any]]) throws {
        let rows = dictionaries.map {
            guard let row = Product(dictionary: $0) else {
                preconditionFailure("the dictionary says a whole row")
            }
            return row
        }
        try insert(rows[...])
    }

    func synchronize(_ list: [Product]) throws -> ListChanges {
        throw NotOffered(reason: "cannot import a whole list in one request")
    }

    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) throws {
        throw NotOffered(reason: "has no indexes on values")
    }

    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) throws {
        throw NotOffered(reason: "has no indexes on values")
    }

    func findParents() throws {}

    func follow(_ body: (any FollowingList) throws -> Void) throws {
        throw NotOffered(reason: "has no lists that follow")
    }

    func hold(withValues: Bool, _ body: () throws -> Void) throws {
        guard withValues else { throw NotOffered(reason: "has no faults") }
        var rows: [Product] = []
        try every { rows.append($0) }
        try withExtendedLifetime(rows, body)
    }
}
