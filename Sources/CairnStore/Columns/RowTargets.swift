// The members of a to-many relationship in a batch's row.

public import CairnModel

/// The members of a to-many relationship in a row of a batch insert.
///
/// ```swift
/// let request = BatchInsertRequest(Product.self, from: feed) { row, item in
///     row.serialCode = item.code
///     row.tags = .keys(item.tagNames)                 // these and no others
///     row.offers = .adding([.key(item.offerNumber)])  // in addition to the existing ones
/// }
/// ```
///
/// Each member is specified like the target of a to-one relationship; see ``RowTarget``. Members of an ordered
/// relationship are in the order given; added ones are appended.
public struct RowTargets: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The members, in order.
    public var targets: [RowTarget]
    /// Whether members that are not listed are removed.
    public var replaces: Bool

    private init(_ targets: [RowTarget], replaces: Bool) {
        self.targets = targets
        self.replaces = replaces
    }

    /// Replaces all members.
    public init(arrayLiteral elements: RowTarget...) { self.init(elements, replaces: true) }

    /// Replaces all members.
    public static func replacing(_ targets: [RowTarget]) -> RowTargets {
        RowTargets(targets, replaces: true)
    }

    /// Adds members.
    public static func adding(_ targets: [RowTarget]) -> RowTargets {
        RowTargets(targets, replaces: false)
    }

    /// Replaces all members by the objects with these ids.
    public static func ids(_ ids: some Sequence<ObjectID>) -> RowTargets {
        replacing(ids.map { .id($0) })
    }

    /// Replaces all members by the objects with these keys. Each key is a value of the first uniqueness constraint of the
    /// members' entity that has only one property.
    public static func keys<V: AttributeValue>(_ keys: some Sequence<V>) -> RowTargets {
        replacing(keys.map { .key($0) })
    }
}

/// What the rows of a column batch say of to-many relationships, in the order in which it was said.
package struct RowLists {
    /// What a row says of one relationship.
    package struct List {
        package let row: Int
        /// The relationship, as an index of the entity's.
        package let relationship: Int
        package let targets: RowTargets
    }

    /// In the order of their rows.
    package private(set) var all: [List] = []
    /// What they take in memory, about.
    private(set) var bytes = 0
    /// What is wrong with a value that a row was to have, the first of them, and in which row.
    private(set) var refusal: (row: Int, error: StoreError)?

    /// Those of a row.
    package func lists(of row: Int) -> ArraySlice<List> {
        var (first, end) = (0, all.count)
        while first < end {
            let middle = (first + end) / 2
            if all[middle].row < row { first = middle + 1 } else { end = middle }
        }
        return all[first...].prefix { $0.row == row }
    }

    /// Notes that a row was to have a value that cannot be stored: whoever sets a cell cannot throw.
    mutating func refuse(_ error: StoreError, row: Int) {
        if refusal == nil { refusal = (row, error) }
    }

    package mutating func append(_ targets: RowTargets, relationship: Int, row: Int) {
        bytes += 48 + targets.targets.count * 64
        all.append(List(row: row, relationship: relationship, targets: targets))
    }

    /// Forgets what the last row says.
    mutating func forget(row: Int) {
        while all.last?.row == row { all.removeLast() }
        if refusal?.row == row { refusal = nil }
    }

    mutating func removeAll() {
        refusal = nil
        if all.isEmpty { return }
        all.removeAll(keepingCapacity: all.count <= ColumnBatch.capacity)
        bytes = 0
    }
}
