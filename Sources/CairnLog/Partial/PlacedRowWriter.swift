// Adds rows from another store to a commit, with the same numbers and versions.
//
// Nothing is decided: neither constraints nor references are checked.
//
// Memory: the rows to be written, some megabytes.
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnModel
package import CairnStore
import FoundationEssentials

package struct PlacedRowWriter {
    /// The maximum number of waiting rows, and approximately of their bytes.
    private static let mostRows = 8192
    private static let mostBytes = 4 << 20

    private var pending = PendingRows()
    private var rows = 0
    private var bytes = 0

    package init() {}

    /// Whether the added rows must be written before more are added.
    package var isFull: Bool { rows >= Self.mostRows || bytes >= Self.mostBytes }

    package mutating func add(_ row: PartialStore.PlacedRow, _ builder: inout CommitBuilder) {
        enter(row.entity, row.number, row.version, row.values, row.places, &builder)
    }

    package mutating func add(_ pair: PartialStore.PlacedPair, _ builder: inout CommitBuilder) {
        let catalog = builder.catalog
        let index = catalog.entityIndex(ofPairs: pair.pairs)
        let values = zip(catalog.entities[index].columns, [pair.source, pair.destination]).map {
            column, end -> Value in
            guard let tree = column.target else {
                preconditionFailure("the columns of a pair are references")
            }
            let root = catalog.schemaEntity(catalog.trees[tree].root)
            return .objectID(builder.identity.id(UInt64(end), entity: root))
        }
        enter(index, pair.number, pair.version, values, pair.places, &builder)
    }

    private mutating func enter(
        _ index: Int, _ number: UInt32, _ version: UInt32, _ values: [Value], _ places: [Int64?],
        _ builder: inout CommitBuilder
    ) {
        let entity = builder.catalog.entities[index]
        var key = KeyBuffer()
        for unique in entity.uniques {
            let form = builder.catalog.uniques[unique].form
            if key.load(values, form, number: { $0.number }) {
                builder.insertKey(key.hash(seed: builder.seed), number: number, unique: unique)
            }
        }
        builder.moveReferences(entity: index, number: number, from: nil, to: values)
        // New members follow those that have positions.
        if let last = places.lazy.compactMap(\.self).max(), let before = OrderKeys.number(last) {
            builder.raiseNumbers(entity.tree, above: before)
        }
        pending.byEntity[index, default: []].append(
            PendingRows.Row(
                number: number, version: version, values: values, keys: places, kept: nil))
        builder.raiseNumbers(entity.tree, above: number)
        rows += 1
        bytes += values.reduce(0) { $0 + 16 + $1.byteCount }
    }

    /// Writes the added rows.
    package mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        for (entity, rows) in pending.byEntity.inKeyOrder() {
            try builder.write(rows, entity: entity)
        }
        self = PlacedRowWriter()
    }
}

extension CommitBuilder {
    /// Excludes all numbers up to one from being issued.
    package mutating func raiseNumbers(_ tree: Int, above number: UInt32) {
        state.nextNumbers[tree] = max(
            state.nextNumbers[tree], number == .max ? number : number + 1)
    }

    /// Redirects ids to other objects.
    package mutating func redirect(_ redirects: [PartialStore.PlacedRedirect]) throws(StoreError) {
        try redirect(
            redirects.map { Redirection(tree: $0.tree, number: $0.number, target: $0.survivor) })
    }
}

extension Value {
    /// About how many bytes the value has outside of itself.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .binary(let data): data.count
        case .uri(let url): url.absoluteString.utf8.count
        default: 0
        }
    }
}
