// A fetch index of a state, as tests ask it: for the entries of a range, and for the objects that have some values.
//
// Threads: a value; the caller keeps the state pinned while he has it or a cursor of it.

import CairnModel
import CairnStore

@testable import CairnLog

/// A fetch index of a state.
struct FetchIndexView {
    /// Entries of an index.
    struct Range {
        let ranks: Swift.Range<Int>
        let isExact: Bool
    }

    let definition: Catalog.FetchIndexDefinition
    private let content: FetchIndexContent
    private let seed: UInt64

    init(_ state: EngineState, index: Int) {
        definition = state.catalog.fetchIndexes[index]
        content = state.fetchIndexes[index]
        seed = state.hashSeed
    }

    /// How many entries it has: one for each object.
    var count: Int { content.ordered.count }

    /// The entries whose first elements have some values, and whose next one lies in an interval; nil if a value is not
    /// one that the element's column has.
    func range(equal values: [Value] = [], then interval: IndexInterval? = nil) -> Range? {
        let parts = definition.parts
        guard values.count + (interval == nil ? 0 : 1) <= parts.count else { return nil }
        var keys = IndexRangeKeys()
        for (value, part) in zip(values, parts) {
            guard keys.append(value, part) else { return nil }
        }
        if let interval {
            guard keys.close(interval, parts[values.count]) else { return nil }
        } else {
            keys.close()
        }
        return Range(ranks: keys.ranks(in: content.ordered), isExact: keys.isExact)
    }

    /// How many entries a range has.
    func count(_ range: Range) -> Int { range.ranks.count }

    /// Goes through the entries of a range. The least is the first forward, the greatest the first backward.
    func cursor(_ range: Range, _ direction: OrderedCursor.Direction = .forward) -> OrderedCursor {
        OrderedCursor(content.ordered, ranks: range.ranks, direction)
    }

    /// The objects that have a value for each element, and how many there are; nil if the index has no postings, or a value
    /// is not one of its column.
    func postings(equal values: [Value]) -> (count: Int, numbers: PostingCursor)? {
        guard definition.hasPostings, values.count == definition.parts.count else { return nil }
        var key = IndexKey()
        for (value, part) in zip(values, definition.parts) {
            guard key.append(value, part) else { return nil }
        }
        return content.postings(key, seed: seed)
    }
}
