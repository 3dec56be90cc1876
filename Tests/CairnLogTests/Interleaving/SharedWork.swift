// One commit of one of several processes, and what it makes of a store's content.
//
// What a process reads before its commit may be old by then: what is done here depends on that only as far as it is told here,
// or is done with the lease kept. So the content after a commit follows from the one before it.
//
// Threads: a plain value.

import CairnModel
import CairnStore
import CairnTestSupport

@testable import CairnLog

struct SharedWork: Sendable {
    enum Kind: Sendable {
        case operation(StoreOperation)
        /// A box is deleted by its id.
        case deleteBox(ObjectID, String)
        /// A save changes an object that nobody deletes, whatever others have made of it since it was read.
        case note(Row, String)
        /// A save deletes an object, hands its key to another one, and changes a third.
        case handOver(
            lost: Row, key: String, taker: Row, takerKey: String, noted: Row, notedKey: String)
    }

    /// No other work has this number; it is in all that it writes.
    let stamp: Int
    let process: Int
    let kind: Kind
    /// The commit that the process saw before.
    let seen: UInt64

    private static let operations: [StoreOperation] = [
        .insertOne, .upsert, .insertMany, .updateAll, .delete, .saveGraph, .saveLarge, .rejected,
    ]

    /// Something to do to a store.
    ///
    /// - Parameter isAlone: whether nobody else can write until it is done.
    init(
        _ stamp: Int, _ process: Int, _ store: LogStore, isAlone: Bool,
        using random: inout RandomSource
    ) throws {
        self.stamp = stamp
        self.process = process
        seen = store.lastCommit
        switch random.next() % 10 {
        case 0:
            var fetch = StoreFetch(entity: StoreOperation.box)
            fetch.includesRows = true
            let boxes = try store.snapshot().fetch(fetch).rows
            if let row = boxes.randomElement(using: &random),
                case .string(let name) = Self.cell(row, StoreOperation.name, store)
            {
                kind = .deleteBox(row.id, name)
                return
            }
        case 1, 2:
            if let change = try Self.change(store, isAlone, &random) {
                kind = change
                return
            }
        default: break
        }
        var operation = Self.operations.randomElement(using: &random)!
        // Of an odd number it deletes what it reads before.
        if operation == .delete, stamp % 2 == 1 { operation = .insertOne }
        kind = .operation(operation)
    }

    private static func cell(_ row: Row, _ column: Int, _ store: LogStore) -> Value {
        row.cells.value(column, of: StoreOperation.schema.entities[row.entity], in: store.identity)
    }

    private static func change(
        _ store: LogStore, _ isAlone: Bool, _ random: inout RandomSource
    ) throws -> Kind? {
        var fetch = StoreFetch(entity: StoreOperation.item)
        fetch.includesRows = true
        var rows: [(row: Row, key: String)] = []
        for row in try store.snapshot().fetch(fetch).rows {
            guard case .string(let key) = cell(row, StoreOperation.key, store) else { continue }
            guard key == "a0" else {
                rows.append((row, key))
                continue
            }
            // Others of this key could be deleted.
            if !isAlone, case .integer(let value) = cell(row, StoreOperation.value, store),
                value >= 100
            {
                return .note(row, key)
            }
        }
        guard isAlone, rows.count > 2 else { return nil }
        rows.shuffle(using: &random)
        return .handOver(
            lost: rows[0].row, key: rows[0].key, taker: rows[1].row, takerKey: rows[1].key,
            noted: rows[2].row, notedKey: rows[2].key)
    }

    // MARK: In a store

    func perform(_ store: LogStore, _ scheduler: ManualScheduler) throws {
        switch kind {
        case .operation(let operation): try operation.perform(store, scheduler, step: stamp)
        case .deleteBox(let id, _):
            _ = try store.execute(BatchDeleteRequest(.ids([id], entity: StoreOperation.box)))
        case .note(let row, _):
            try Self.save(store, [Self.update(row, [(StoreOperation.note, .string(noteText))])])
        case .handOver(let lost, let key, let taker, _, let noted, _):
            try Self.save(
                store,
                [
                    Self.update(
                        taker,
                        [(StoreOperation.key, .string(key)), (StoreOperation.value, .integer(9))]),
                    Self.update(noted, [(StoreOperation.note, .string(noteText))]),
                ], deleting: lost)
        }
    }

    private var noteText: String { "changed \(stamp)" }

    private static func update(_ row: Row, _ changes: [(Int, Value)]) -> SaveRequest.Updated {
        SaveRequest.Updated(
            id: row.id, entity: StoreOperation.item, base: row,
            changes: changes.map { (column: $0.0, value: $0.1) })
    }

    private static func save(
        _ store: LogStore, _ updated: [SaveRequest.Updated], deleting lost: Row? = nil
    ) throws {
        var request = SaveRequest()
        request.updated = updated
        if let lost {
            request.deleted.append(
                .init(id: lost.id, entity: StoreOperation.item, version: lost.version))
        }
        request.resolution = .policy(.mergeByPropertyObjectTrump)
        _ = try store.save(request)
    }

    // MARK: In dictionaries

    /// What a content is after it.
    func applied(to content: NaiveStore) -> NaiveStore {
        var next = content
        switch kind {
        case .operation(let operation): apply(operation, &next)
        case .deleteBox(_, let name): next.remove(box: name)
        case .note(_, let key): next.items[key]?.note = noteText
        case .handOver(_, let key, _, let takerKey, _, let notedKey):
            next.items[notedKey]?.note = noteText
            next.remove(item: key)
            next.items[key] = next.items.removeValue(forKey: takerKey)
            next.items[key]?.value = 9
            next.tags = Set(
                next.tags.map {
                    $0.item == takerKey ? NaiveStore.Tag(item: key, box: $0.box) : $0
                })
        }
        return next
    }

    private func apply(_ operation: StoreOperation, _ next: inout NaiveStore) {
        switch operation {
        case .insertOne: put(["n\(stamp)": stamp], &next)
        case .upsert:
            put(
                ["a0": 100 + stamp, "a1": stamp, "n\(stamp - 1)": stamp + 50],
                setOnly: stamp % 2 == 0, &next)
        case .insertMany:
            for number in 0..<7 { put(["m\(stamp)-\(number)": number], &next) }
        case .updateAll:
            for key in next.items.keys { next.items[key]?.value? += Int64(stamp % 3) }
        case .delete:
            for (key, item) in next.items where item.value == Int64(stamp % 4) {
                next.remove(item: key)
            }
        case .saveGraph:
            let box = "box \(stamp)"
            next.boxes.insert(box)
            for number in 2...3 {
                let key = "g\(stamp)-\(number)"
                next.items[key] = .init(value: Int64(number), box: box)
                next.tags.insert(.init(item: key, box: box))
            }
        case .saveLarge:
            let text = String(repeating: "large \(stamp) ", count: 90)
            next.items["l\(stamp)"] = .init(value: 7, note: text)
        case .rejected:
            if next.items["a0"] != nil { return }
            for number in 0..<12 { put(["r\(stamp)-\(number)": number], &next) }
            put(["a0": -1], &next)
        default: preconditionFailure("\(operation) is none that processes share")
        }
    }

    private func put(_ rows: [String: Int], setOnly: Bool = false, _ next: inout NaiveStore) {
        for (key, value) in rows {
            var item = next.items[key] ?? NaiveStore.Item()
            item.value = Int64(value)
            // A batch leaves relationships alone.
            if !setOnly { item.note = nil }
            next.items[key] = item
        }
    }
}

extension SharedWork: CustomStringConvertible {
    var description: String {
        let what =
            switch kind {
            case .operation(let operation): operation.rawValue
            case .deleteBox(_, let name): "deletes \(name)"
            case .note(_, let key): "notes \(key)"
            case .handOver(_, let key, _, let taker, _, let noted):
                "hands \(key) over to \(taker), notes \(noted)"
            }
        return "work \(stamp) of \(process): \(what)"
    }
}
