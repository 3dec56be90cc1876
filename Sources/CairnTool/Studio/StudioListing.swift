// The numbers of a listing's objects, in order: 4 bytes per object, so that any row of ten million is found
// immediately.
//
// Threads: values.

import CairnModel
import CairnStore

/// The key of a listing.
struct StudioListingKey: Hashable {
    let entity: String
    let condition: String?
    let sqlNulls: Bool
    let sort: String?
    /// The commit of the state.
    let commit: UInt64
    /// The store; another one is opened if the first one can no longer be used.
    let store: ObjectIdentifier

    /// Whether it contains all objects in the order of their numbers.
    var isPlain: Bool { condition == nil && sort == nil }
}

/// A listing.
struct StudioListing: Sendable {
    private let numbers: [UInt32]
    private let entity: Int

    var count: Int { numbers.count }
    var byteCount: Int { numbers.capacity * 4 }

    /// Reads the numbers of all objects of a fetch, without their values.
    init(_ fetch: StoreFetch, _ entity: SchemaEntity, _ snapshot: any StoreSnapshot) throws {
        var read = StoreRead(entity, columns: ColumnSet())
        read.fetch = fetch
        var numbers: [UInt32] = []
        var rises = true
        try snapshot.read(read) { row in
            // The numbers of a store have 32 bits.
            let number = UInt32(truncatingIfNeeded: row.reference)
            if let last = numbers.last, last > number { rises = false }
            numbers.append(number)
        }
        // Without a sort key, a store returns them in its most efficient order.
        if fetch.sort.isEmpty, !rises { numbers.sort() }
        self.numbers = numbers
        self.entity = entity.index
    }

    /// Returns the ids of a page.
    func page(from start: Int, count: Int, _ identity: StoreIdentity) -> [ObjectID] {
        let start = min(start, numbers.count)
        return numbers[start..<min(start + count, numbers.count)].map {
            identity.id(UInt64($0), entity: entity)
        }
    }
}
