// What a planner asks a fetch index of a state.
//
//   1. Which columns it has, in which order and direction: `definition`.
//   2. How many objects an equality on its first elements has, or that and a range on the next one: `range`, then
//      `count`. That costs two ways down the tree, and is exact unless the range says that keys are cut.
//   3. Their numbers in the order of the index or backward: `cursor`. Paging skips by rank.
//   4. Equality on all elements: `postings`, the numbers rising.
//
// An index is over the entity that declares it and all its descendants: a fetch of fewer entities looks at the rows of what
// it gets. A cut key, and every hash, is a candidate only: the caller compares the row.
//
// Threads: a value; the caller keeps the state pinned while he has it or a cursor of it.

import CairnModel
import CairnStore

/// One end of a range of values.
enum IndexBound {
    /// None: up to the last value that comparisons can be true of. Nil and NaN are outside.
    case open
    case including(Value)
    case excluding(Value)
}

/// Which values the element behind the equal ones may have.
enum IndexInterval {
    case between(IndexBound, IndexBound)
    /// Texts that begin so, byte by byte.
    case beginning(String)
}

/// Entries of an ordered index: from some bytes on, up to others.
struct IndexRange {
    let lower: [UInt8]
    /// Where it ends; nil: with the index.
    let upper: [UInt8]?
    /// Whether all entries in it are what was asked for; else keys are cut, and some at its ends may not be.
    let isExact: Bool
}

/// A fetch index of a state.
struct FetchIndexView {
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

    // MARK: Ranges

    /// The entries whose first elements have some values, and whose next one lies in an interval; nil if a value is not
    /// one that the element's column has. A value may be nil, which is equal to nil.
    func range(equal values: [Value] = [], then interval: IndexInterval? = nil) -> IndexRange? {
        let parts = definition.parts
        guard values.count + (interval == nil ? 0 : 1) <= parts.count else { return nil }
        var key = IndexKey()
        for (value, part) in zip(values, parts) {
            guard key.append(value, part) else { return nil }
        }
        let prefix = Array(key.bytes)
        guard let interval, !key.isCut else {
            return IndexRange(
                lower: prefix, upper: prefix.isEmpty ? nil : IndexKey.raised(prefix),
                isExact: !key.isCut)
        }
        let part = parts[values.count]
        switch interval {
        case .beginning(let text):
            guard key.append(prefix: text, part) else { return nil }
            let bytes = Array(key.bytes)
            return IndexRange(
                lower: bytes, upper: IndexKey.raised(bytes), isExact: bytes.count < IndexKey.longest
            )
        case .between(let low, let high):
            var isExact = true
            let (first, last) = part.isAscending ? (low, high) : (high, low)
            guard
                let lower = bound(first, prefix, part, isLower: true, &isExact),
                let upper = bound(last, prefix, part, isLower: false, &isExact)
            else { return nil }
            // Nothing lies above: an entry never begins so.
            let none = [UInt8](repeating: 0xFF, count: OrderedLeaf.longestEntry)
            return IndexRange(lower: lower ?? none, upper: upper, isExact: isExact)
        }
    }

    /// Where a range begins or ends in the order of the index; nil if the value is none of the column, nil within if nothing
    /// lies beyond.
    private func bound(
        _ bound: IndexBound, _ prefix: [UInt8], _ part: Catalog.IndexPart, isLower: Bool,
        _ isExact: inout Bool
    ) -> [UInt8]?? {
        var key = IndexKey()
        let value: Value
        // Whether the bound lies before the entries of the value, and not behind them.
        let isBefore: Bool
        switch bound {
        case .open:
            // The end where nil is, or where NaN is.
            if isLower == part.isAscending {
                value = .null
                isBefore = !isLower
            } else if let nan = part.kind.notANumber {
                value = nan
                isBefore = !isLower
            } else {
                return isLower
                    ? .some(prefix) : .some(prefix.isEmpty ? nil : IndexKey.raised(prefix))
            }
        case .including(let limit):
            value = limit
            isBefore = isLower
        case .excluding(let limit):
            value = limit
            isBefore = !isLower
        }
        guard key.append(value, part) else { return nil }
        var bytes = prefix + Array(key.bytes)
        if bytes.count >= IndexKey.longest {
            bytes.removeLast(bytes.count - IndexKey.longest)
            isExact = false
            // What shares the cut bytes may be on either side.
            return isLower ? .some(bytes) : .some(IndexKey.raised(bytes))
        }
        return isBefore ? .some(bytes) : .some(IndexKey.raised(bytes))
    }

    /// The ranks of the entries of a range.
    func ranks(_ range: IndexRange) -> Range<Int> {
        let lower = range.lower.withUnsafeBytes { content.ordered.rank($0) }
        let upper = range.upper.map { $0.withUnsafeBytes { content.ordered.rank($0) } }
        return lower..<max(lower, upper ?? content.ordered.count)
    }

    /// Calls the body with each leaf that has entries of a range, and which of its entries they are, until it returns false.
    func forEachLeaf(_ range: IndexRange, _ body: (OrderedLeaf, Range<Int>) -> Bool) {
        content.ordered.forEachLeaf(ranks: ranks(range), body)
    }

    /// How many entries a range has.
    func count(_ range: IndexRange) -> Int { ranks(range).count }

    /// Goes through the entries of a range. The least is the first forward, the greatest the first backward.
    func cursor(_ range: IndexRange, _ direction: OrderedCursor.Direction = .forward)
        -> OrderedCursor
    {
        OrderedCursor(content.ordered, ranks: ranks(range), direction)
    }

    // MARK: Postings

    /// The objects that have a value for each element, and how many there are; nil if the index has no postings, or a value
    /// is not one of its column. Their keys may differ all the same, if their hashes do not, or they are cut.
    func postings(equal values: [Value]) -> (count: Int, numbers: PostingCursor)? {
        guard definition.hasPostings, values.count == definition.parts.count else { return nil }
        var key = IndexKey()
        for (value, part) in zip(values, definition.parts) {
            guard key.append(value, part) else { return nil }
        }
        let hash = FetchIndexContent.hash(key.bytes, seed: seed)
        return (content.postings.count(hash: hash), content.postings.numbers(hash: hash))
    }
}

extension Catalog.IndexPart.Kind {
    /// The value that lies above all others and that no comparison is true of.
    fileprivate var notANumber: Value? {
        switch self {
        case .double: .double(.nan)
        case .float: .float(.nan)
        case .integer, .text, .decimal, .fixed16: nil
        }
    }
}

extension EngineState {
    /// The fetch indexes that have all objects of an entity and of its descendants. They are those of the state before as
    /// long as a commit is being made.
    func fetchIndexViews(of entity: Int) -> [FetchIndexView] {
        catalog.fetchIndexesOfEntity[entity].map { FetchIndexView(self, index: $0) }
    }
}
