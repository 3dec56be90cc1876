// Adds a transaction from another store's history.                                                  Format 77
//
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnModel
package import CairnStore
import FoundationEssentials

extension CommitBuilder {
    /// Adds a transaction to the history as that of this commit, with the commit's number.
    package mutating func record(_ transaction: PersistentHistoryTransaction) throws(StoreError) {
        hasRecordedHistory = true
        guard let groups = transaction.changes?.groups, !groups.isEmpty else { return }
        var writer = ChangesWriter(
            ChangesPayload.Head(
                commit: number, time: transaction.timestamp.timeIntervalSinceReferenceDate,
                process: UInt32(bitPattern: transaction.processID),
                author: Self.fitting(transaction.author),
                context: Self.fitting(transaction.contextName),
                program: Self.fitting(transaction.bundleID)))
        let start = log.end.offset
        for group in groups { try add(group, to: &writer) }
        try writer.write(isLast: true, &self)
        let frame = HistoryFrame(place: writer.place, length: log.end.offset - start)
        guard state.history.set(number, frame, in: &pages) else {
            throw StoreError(
                .invalidRequest,
                "the history spans more than two billion commits: delete the part that is no longer needed"
            )
        }
        hasChanges = true
    }

    /// Returns as much of a string as a frame takes.
    private static func fitting(_ text: String?) -> String {
        var text = text ?? ""
        while text.utf8.count > ChangesPayload.maximumText { text.removeLast() }
        return text
    }

    private mutating func add(
        _ group: PersistentHistoryChanges.Group, to writer: inout ChangesWriter
    ) throws(StoreError) {
        let id = catalog.entities[group.entity].id
        switch group.type {
        case .insert:
            try HistoryRecorder.add(group.numbers, .insert, [], id, &writer, &self)
        case .update:
            let properties = catalog.historyNames(of: group.entity)
                .filter { group.updatedProperties.contains($0.value) }.map(\.key)
                .sorted { ($0.through, $0.id) < ($1.through, $1.id) }
            try HistoryRecorder.add(group.numbers, .update, properties, id, &writer, &self)
        case .delete:
            try addDeleted(group, id, &writer)
            try addRedirected(group, id, &writer)
        }
    }

    private mutating func addDeleted(
        _ group: PersistentHistoryChanges.Group, _ id: UInt32, _ writer: inout ChangesWriter
    ) throws(StoreError) {
        let stored = catalog.entities[group.entity]
        let names = catalog.schema.entities[group.entity].columns.map(\.name)
        let columns = group.names.map { names.firstIndex(of: $0) }
        let kept = columns.compactMap(\.self)
        if kept.isEmpty {
            return try HistoryRecorder.add(group.numbers, .delete, [], id, &writer, &self)
        }
        let properties = kept.map { ChangesPayload.Property(id: stored.columns[$0].propertyID) }
        var cells = ByteWriter(capacity: 4096)
        var numbers = ObjectNumbers()
        var values = group.values[...]
        for number in group.numbers {
            for (column, value) in zip(columns, values) {
                guard let column else { continue }
                cells.append(cell: ChangesPayload.Cell(value, stored.columns[column].kind))
            }
            values = values.dropFirst(columns.count)
            numbers.append(number)
            if cells.count >= 1 << 20 || numbers.runs.count == ChangesEncoder.mostRuns {
                try writer.add(
                    entity: id, .delete, properties: properties, numbers.runs[...],
                    cells: cells.bytes, &self)
                numbers = ObjectNumbers()
                cells.reset()
            }
        }
        if numbers.isEmpty { return }
        try writer.add(
            entity: id, .delete, properties: properties, numbers.runs[...], cells: cells.bytes,
            &self)
    }

    private mutating func addRedirected(
        _ group: PersistentHistoryChanges.Group, _ id: UInt32, _ writer: inout ChangesWriter
    ) throws(StoreError) {
        let led = group.redirects.filter { group.numbers.contains($0.key) }
            .sorted { $0.key < $1.key }
        for start in stride(from: 0, to: led.count, by: ChangesEncoder.mostRuns) {
            var numbers = ObjectNumbers()
            var targets = ByteWriter(capacity: 4096)
            for one in led[start..<min(start + ChangesEncoder.mostRuns, led.count)] {
                numbers.append(one.key)
                targets.append(UInt32(truncatingIfNeeded: one.value))
            }
            try writer.add(entity: id, .redirect, numbers.runs[...], cells: targets.bytes, &self)
        }
    }
}

extension ChangesPayload.Cell {
    /// The cell of a value in a column of a kind.
    fileprivate init(_ value: Value, _ kind: ColumnBuffer.Kind) {
        if case .objectID(let id) = value {
            self = .integer(Int64(bitPattern: id.reference))
            return
        }
        switch PastCell(value) {
        case .null: self = .none
        case .integer(let number): self = .integer(number)
        case .double(let bits): self = .double(bits)
        case .float(let bits): self = .float(bits)
        case .bytes(let bytes): self = kind == .fixed16 ? .fixed16(bytes) : .bytes(bytes)
        }
    }
}
