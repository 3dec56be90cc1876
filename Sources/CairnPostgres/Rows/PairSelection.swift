// Reads the pairs of a relationship that is stored as pairs.
//
// Threads: plain values.

import CairnLog

/// The rows of one table of pairs, as a query selects them.
struct PairSelection {
    let layout: TableLayout
    /// As an index of the schema's pairs.
    let pairs: Int

    /// What is selected, of a table under a name.
    func list(_ name: String) -> String {
        ([
            TableLayout.Fixed.id, TableLayout.Fixed.version, TableLayout.Fixed.source,
            TableLayout.Fixed.destination,
        ]
            + layout.pairs[pairs].places.map(\.name)).map { "\(name).\($0.quoted)" }
            .joined(separator: ", ")
    }

    func pair(_ result: PostgresResult, _ row: Int) throws(SQLFailure) -> PartialStore.PlacedPair {
        guard let number = UInt32(exactly: try result.int64(row, 0)),
            let version = UInt32(exactly: try result.int32(row, 1)),
            let source = UInt32(exactly: try result.int64(row, 2)),
            let destination = UInt32(exactly: try result.int64(row, 3))
        else {
            throw SQLFailure(
                .unreadable,
                "a row of the table \(layout.pairs[pairs].name) does not contain two objects"
            )
        }
        var places: [Int64?] = []
        for place in layout.pairs[pairs].places.indices {
            places.append(result.isNull(row, 4 + place) ? nil : try result.int64(row, 4 + place))
        }
        return PartialStore.PlacedPair(
            pairs: pairs, number: number, version: version, source: source,
            destination: destination, places: places)
    }
}
