// The canonical export of any store.                                                                Format 80

import CairnLog
import CairnModel
import CairnStore

extension StoreContent {
    /// Passes the contents, in pieces, as the canonical JSON lines that Format/ defines; a log store with the same contents
    /// gives the same lines.
    package func export(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var export = PlacedRowExport(catalog)
        var failure: (any Error)?
        func piece(_ export: inout PlacedRowExport) throws(StoreError) {
            do {
                try export.give(body)
            } catch {
                failure = error
                throw StoreError(.cancelled, "the receiver of the export has stopped it")
            }
        }
        do throws(StoreError) {
            for tree in catalog.trees.indices.sorted(by: {
                catalog.trees[$0].id < catalog.trees[$1].id
            }) {
                let root = catalog.trees[tree].root
                guard root < catalog.schema.entities.count else {
                    try forEachPair(of: root - catalog.schema.entities.count) {
                        pair throws(StoreError) in
                        export.add(pair)
                        try piece(&export)
                    }
                    continue
                }
                try forEachRow(ofTree: tree) { row throws(StoreError) in
                    try export.add(row)
                    try piece(&export)
                }
            }
        } catch {
            throw failure ?? error
        }
        try export.give(isEnd: true, body)
    }
}
