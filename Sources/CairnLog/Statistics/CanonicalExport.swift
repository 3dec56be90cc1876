// The contents of a state as text on which two readers must agree.                  Format 80
//
//   1. A line about the store.
//   2. A line for each object, by tree id, then by number; rows of hidden entities have lines as well.
//
// Threads: one writer in one thread; the state is pinned by whoever made it.

import CairnFormat
import CairnModel
public import CairnStore

/// Writes the canonical JSON lines of a state.
struct CanonicalExport: ~Copyable {
    private let reader: StoreReader
    private let state: EngineState
    private var writer = ByteWriter(capacity: 1 << 20)
    /// `"name":` of each column, by entity.
    private var names: [[[UInt8]]] = []

    init(reader: StoreReader, state: EngineState) {
        self.reader = reader
        self.state = state
        for index in state.catalog.entities.indices {
            names.append(
                state.catalog.entities[index].allColumns.map { Self.quoted($0.name) + [58] })
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        CanonicalText.append(text, to: &writer)
        return Array(writer.bytes)
    }

    /// Passes the text to the body in pieces.
    mutating func write(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let catalog = state.catalog
        writer.append(
            utf8:
                "{\"cairn\":\"export\",\"format\":\(FormatVersion.current),\"schema\":\(catalog.version)}\n"
        )
        for tree in catalog.trees.indices.sorted(by: { catalog.trees[$0].id < catalog.trees[$1].id }
        ) {
            var number: UInt32 = 1
            while let next = state.directories[tree].next(from: number) {
                try append(next, state.directories[tree][next])
                if writer.count >= 1 << 20 {
                    try body(writer.bytes)
                    writer.reset()
                }
                number = next + 1
            }
        }
        try body(writer.bytes)
        writer.reset()
    }

    private mutating func append(_ number: UInt32, _ cell: DirectoryCell) throws(StoreError) {
        let entry = state.blocks.entry(cell.handle)
        let index = Int(entry.entity)
        let entity = state.catalog.entities[index]
        let description = state.catalog.description(of: index)
        let block = try reader.block(entry, in: state)
        writer.append(utf8: "{\"entity\":")
        CanonicalText.append(entity.name, to: &writer)
        writer.append(utf8: ",\"id\":\(number),\"version\":\(cell.version),\"values\":{")
        for (position, column) in entity.allColumns.enumerated() {
            if position > 0 { writer.append(UInt8(ascii: ",")) }
            names[index][position].withUnsafeBytes { writer.append($0) }
            guard let cells = try block.column(column), !cells.isNil(at: cell.slot) else {
                writer.append(utf8: "null")
                continue
            }
            do {
                guard position < description.columns.count else {
                    CanonicalNumber.append(integer: cells.integer(at: cell.slot), to: &writer)
                    continue
                }
                try append(cells, cell.slot, description.columns[position].kind, block)
            } catch let error as FormatError {
                throw StoreError(error, at: block.place)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("printing only throws format and store errors: \(error)")
            }
        }
        writer.append(utf8: "}}\n")
    }

    private mutating func append(
        _ cells: DecodedColumn, _ slot: Int, _ kind: SchemaColumn.Kind, _ block: CachedBlock
    ) throws {
        guard case .attribute(let type) = kind else {
            return CanonicalNumber.append(integer: cells.integer(at: slot), to: &writer)
        }
        switch type {
        case .integer16, .integer32, .integer64:
            CanonicalNumber.append(integer: cells.integer(at: slot), to: &writer)
        case .boolean: writer.append(utf8: cells.integer(at: slot) != 0 ? "true" : "false")
        case .double: CanonicalNumber.append(double: cells.double(at: slot), to: &writer)
        case .float: CanonicalNumber.append(float: cells.float(at: slot), to: &writer)
        case .date: CanonicalDate.append(cells.double(at: slot), to: &writer)
        case .uuid: CanonicalText.append(uuid: cells.fixed16(at: slot), to: &writer)
        case .string, .uri, .binary, .transformable, .decimal:
            if cells.isExternal(at: slot) {
                let value = try block.large(cells.bytes(at: slot))
                try value.withUnsafeBytes { try append($0, type) }
            } else {
                try append(cells.bytes(at: slot), type)
            }
        case .undefined, .objectID, .composite:
            preconditionFailure("a column has a storable type")
        }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer, _ type: AttributeType) throws {
        switch type {
        case .string, .uri: try CanonicalText.append(utf8: bytes, to: &writer)
        case .decimal:
            CanonicalNumber.append(decimal: try DecimalBytes(decoding: bytes), to: &writer)
        default: CanonicalText.append(base64: bytes, to: &writer)
        }
    }
}

extension LogStore {
    /// Passes the contents of a state, in pieces, as the canonical JSON lines that Format/ defines.
    ///
    /// - Parameter snapshot: a snapshot of this store; nil: the newest state.
    /// - Throws: `StoreError`: `.damaged` with the location; `.snapshotExpired` if the snapshot expired
    ///   before the export began; and what the body throws.
    /// - Complexity: O(size of the contents).
    public func export(
        of snapshot: (any StoreSnapshot)? = nil, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let snapshot = try snapshot ?? self.snapshot(named: "export")
        guard let snapshot = snapshot as? LogSnapshot, snapshot.engine === engine else {
            throw StoreError(.invalidRequest, "the snapshot belongs to another store")
        }
        let pinned = try snapshot.readable()
        try withExtendedLifetime((snapshot, pinned)) {
            let failures = try engine.image?.repair() ?? 0
            var export = CanonicalExport(reader: engine.reader, state: pinned.state)
            try export.write(body)
            try engine.image?.check(since: failures)
        }
    }
}
