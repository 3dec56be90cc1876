// Rows of `cairn_changes`, as arrays.
//
// Threads: one; a value.

import CairnStore
import FoundationEssentials

/// The changes of transactions, as rows of the history.
struct ChangeRows {
    private let layout: TableLayout
    private(set) var commits = SQLArray(of: .int64)
    private(set) var places = SQLArray(of: .int32)
    private(set) var entities = SQLArray(of: .int16)
    private(set) var kinds = SQLArray(of: .int16)
    private(set) var contents = SQLArray(of: .text)

    init(_ layout: TableLayout) { self.layout = layout }

    /// Adds the changes of a transaction.
    mutating func add(_ groups: [PersistentHistoryChanges.Group], of commit: UInt64)
        throws(StoreError)
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for (place, group) in groups.enumerated() {
            commits.append(number: Int64(clamping: commit))
            places.append(number: Int32(place))
            entities.append(number: layout.code(of: group.entity))
            kinds.append(number: Int16(group.type.rawValue))
            do {
                let json = try encoder.encode(HistoryContent(group))
                try contents.append(text: String(decoding: json, as: UTF8.self))
            } catch let failure as SQLFailure {
                throw StoreError(failure)
            } catch {
                throw StoreError(.invalidRequest, "the history cannot keep the change: \(error)")
            }
        }
    }
}
