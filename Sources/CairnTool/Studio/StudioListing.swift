// The numbers of the objects that a listing has, in their order: 4 bytes an object, so that any row of ten million is found
// at once.
//
// Threads: values.

import CairnModel
import CairnStore

/// What a listing is of.
struct StudioListingKey: Hashable {
    let entity: String
    let condition: String?
    let sqlNulls: Bool
    let sort: String?
    /// The state.
    let commit: UInt64
    /// The store; another one is opened if the first one cannot be used any more.
    let store: ObjectIdentifier

    /// Whether it has all objects in the order of their numbers.
    var isPlain: Bool { condition == nil && sort == nil }
}

/// A listing.
struct StudioListing: Sendable {
    private let numbers: [UInt32]
    private let entity: Int

    var count: Int { numbers.count }
    var byteCount: Int { numbers.capacity * 4 }

    /// Reads the numbers of all objects that a fetch finds, without their values.
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
        // Without a sort key a store gives them in the order that is easiest for it.
        if fetch.sort.isEmpty, !rises { numbers.sort() }
        self.numbers = numbers
        self.entity = entity.index
    }

    /// The ids of a page.
    func page(from start: Int, count: Int, _ identity: StoreIdentity) -> [ObjectID] {
        let start = min(start, numbers.count)
        return numbers[start..<min(start + count, numbers.count)].map {
            identity.id(UInt64($0), entity: entity)
        }
    }
}
