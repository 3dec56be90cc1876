// Which rows of a block can be read, column by column and value by value.

import CairnFormat
import CairnModel
import CairnStore

/// The problem with the rows of a block.
struct UsableRows {
    /// Columns that cannot be read: nil in every row.
    private(set) var lostColumns = ColumnSet()
    /// Values that cannot be read, by slot.
    private(set) var lostValues: [Int: ColumnSet] = [:]
    /// Rows that cannot be kept, with the property that is the reason.
    private var lostRows: [Int: (column: Int, reason: String)] = [:]
    private var allLost: (column: Int, reason: String)?
    private let names: [String]

    /// Examines the rows of a block, except some.
    init(_ block: CachedBlock, entity: Int, catalog: Catalog, except dead: SlotSet)
        throws(StoreError)
    {
        let stored = catalog.entities[entity]
        let description = catalog.description(of: entity)
        names = stored.columns.map(\.name)
        for (index, column) in stored.columns.enumerated() {
            let isOptional = description.columns[index].isOptional && !stored.isHidden
            let cells: DecodedColumn?
            do {
                cells = try block.column(column)
            } catch {
                lostColumns.insert(index)
                if !isOptional { allLost = allLost ?? (index, error.message) }
                continue
            }
            guard column.kind == .bytes, let cells else { continue }
            let isText: Bool
            switch description.columns[index].kind {
            case .attribute(.string), .attribute(.uri): isText = true
            default: isText = false
            }
            for slot in 0..<block.rows where !dead.contains(slot) && !cells.isNil(at: slot) {
                guard let reason = Self.problem(block, cells, slot, isText: isText) else {
                    continue
                }
                lostValues[slot, default: ColumnSet()].insert(index)
                if !isOptional, lostRows[slot] == nil { lostRows[slot] = (index, reason) }
            }
        }
    }

    private static func problem(
        _ block: CachedBlock, _ cells: DecodedColumn, _ slot: Int, isText: Bool
    ) -> String? {
        guard isText || cells.isExternal(at: slot) else { return nil }
        do {
            let isRight = try block.withBytes(cells, slot) {
                !isText || String(validating: $0, as: UTF8.self) != nil
            }
            return isRight ? nil : "a string is not UTF-8"
        } catch {
            return error.message
        }
    }

    /// Why a row cannot be kept; nil if it can.
    func reason(_ slot: Int) -> String? { allLost?.reason ?? lostRows[slot]?.reason }

    /// The property that is the reason.
    func key(_ slot: Int) -> String? {
        (allLost?.column ?? lostRows[slot]?.column).map { names[$0] }
    }

    /// Whether a value of a row is lost.
    func isLost(_ column: Int, _ slot: Int) -> Bool {
        lostColumns.contains(column) || lostValues[slot]?.contains(column) == true
    }
}
