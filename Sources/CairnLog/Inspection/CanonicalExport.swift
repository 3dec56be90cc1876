// Prints a state of a store as canonical JSON lines.                          Format 80, F-801 to F-820
//
//   1. Trees in the order of their ids, objects in the order of their numbers; what the directory says is
//      there is read from its block.
//   2. Values are printed from the stored bytes, so that what breaks the format is found and not repaired.
//
// Invariants: a line is given only when all of it is known to be right.
// Threads: one at a time; the state is pinned.

import CairnFormat
import CairnModel
import CairnStore

/// Prints the content of a store.
package struct CanonicalExport: ~Copyable {
    /// Bytes that are collected before they are given.
    private static let portion = 64 << 10

    private let engine: Engine
    private let state: EngineState
    private let pin: PinnedState<EngineState>
    private var line = ByteWriter(capacity: 2 * portion)
    /// How many objects were printed, hidden ones included.
    package private(set) var rowCount = 0

    /// The newest state of a store.
    package init(_ store: LogStore) {
        engine = store.engine
        pin = store.engine.registry.pin()
        state = pin.state
    }

    /// Prints everything and gives it in portions of whole lines.
    ///
    /// - Throws: `StoreError` with `.damaged` and the place, or what `give` throws.
    package mutating func run(_ give: (UnsafeRawBufferPointer) throws -> Void) throws {
        let catalog = state.catalog
        line.append(utf8: "{\"cairn\":\"export\",\"format\":\(FormatVersion.current)")
        line.append(utf8: ",\"schema\":\(catalog.version)}\n")
        for tree in catalog.trees.indices.sorted(by: { catalog.trees[$0].id < catalog.trees[$1].id }
        ) {
            var block: (handle: BlockHandle, block: CachedBlock)?
            for number in 1..<max(state.nextNumbers[tree], 1) {
                let cell = state.directories[tree][number]
                if cell.isEmpty { continue }
                let entry = state.blocks.entry(cell.handle)
                if block?.handle != cell.handle {
                    block = (cell.handle, try engine.block(entry.place, in: state))
                }
                guard let block = block?.block else { continue }
                do {
                    try append(cell, number, Int(entry.entity), block)
                } catch let error as FormatError {
                    throw StoreError(error, at: block.place)
                }
                rowCount += 1
                if line.count >= Self.portion {
                    try give(line.bytes)
                    line.reset()
                }
            }
        }
        try give(line.bytes)
        line.reset()
    }

    // MARK: Rows

    private mutating func append(
        _ cell: DirectoryCell, _ number: UInt32, _ entity: Int, _ block: CachedBlock
    ) throws {
        guard try block.numbers().number(cell.slot) == number else {
            throw FormatError(.mismatch, "F-420", "a row is not where the directory says")
        }
        let stored = state.catalog.entities[entity]
        let description = state.catalog.description(of: entity)
        line.append(utf8: "{\"entity\":")
        CanonicalText.append(stored.name, to: &line)
        line.append(utf8: ",\"id\":\(number),\"version\":\(cell.version),\"values\":{")
        for (index, column) in stored.columns.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            CanonicalText.append(column.name, to: &line)
            line.append(UInt8(ascii: ":"))
            guard let cells = try block.column(column), !cells.isNil(at: cell.slot) else {
                line.append(utf8: "null")
                continue
            }
            try append(cells, cell.slot, description.columns[index].kind, block)
        }
        line.append(utf8: "}}\n")
    }

    private mutating func append(
        _ cells: DecodedColumn, _ slot: Int, _ kind: SchemaColumn.Kind, _ block: CachedBlock
    ) throws {
        guard case .attribute(let type) = kind else {
            return try append(cells.integer(at: slot), in: 1...Int64(FormatLimits.maximumNumber))
        }
        switch type {
        case .integer16:
            try append(cells.integer(at: slot), in: Int64(Int16.min)...Int64(Int16.max))
        case .integer32:
            try append(cells.integer(at: slot), in: Int64(Int32.min)...Int64(Int32.max))
        case .integer64: CanonicalNumber.append(integer: cells.integer(at: slot), to: &line)
        case .boolean:
            let value = cells.integer(at: slot)
            guard value == 0 || value == 1 else {
                throw FormatError(.malformed, "F-551", "a truth value is neither 0 nor 1")
            }
            line.append(utf8: value == 1 ? "true" : "false")
        case .double: CanonicalNumber.append(double: cells.double(at: slot), to: &line)
        case .float: CanonicalNumber.append(float: cells.float(at: slot), to: &line)
        case .date: CanonicalDate.append(cells.double(at: slot), to: &line)
        case .uuid: CanonicalText.append(uuid: cells.fixed16(at: slot), to: &line)
        case .decimal, .string, .uri, .binary, .transformable:
            if cells.isExternal(at: slot) {
                let value = try block.large(cells.bytes(at: slot))
                try value.withUnsafeBytes { try append(bytes: $0, type) }
            } else {
                try append(bytes: cells.bytes(at: slot), type)
            }
        case .undefined, .objectID, .composite:
            preconditionFailure("a stored column has no values of type \(type)")
        }
    }

    private mutating func append(_ value: Int64, in range: ClosedRange<Int64>) throws {
        guard range.contains(value) else {
            throw FormatError(.malformed, "F-551", "an integer is outside its property's range")
        }
        CanonicalNumber.append(integer: value, to: &line)
    }

    private mutating func append(bytes: UnsafeRawBufferPointer, _ type: AttributeType) throws {
        switch type {
        case .decimal: CanonicalNumber.append(decimal: try DecimalBytes(decoding: bytes), to: &line)
        case .string, .uri: try CanonicalText.append(utf8: bytes, to: &line)
        default: CanonicalText.append(base64: bytes, to: &line)
        }
    }
}
