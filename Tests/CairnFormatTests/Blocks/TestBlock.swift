// A block as a test sees it.

import CairnFormat

struct TestBlock: Equatable {
    var entity: UInt32 = 5
    var schemaVersion: UInt32 = 2
    var isMoved = false
    /// How it is written, which is not seen when it is read.
    var isPacking = false
    var columns: [TestColumn]
    var numbers: [UInt32]
    var versions: [UInt32]

    init(_ columns: [TestColumn], rows: Int) {
        self.columns = columns
        numbers = (0..<rows).map { UInt32($0) + 1 }
        versions = Array(repeating: 1, count: rows)
    }

    /// The payload of the block's frame.
    func encode() throws -> [UInt8] {
        let memory = PlainMemory()
        var encoder = BlockEncoder()
        var writer = ByteWriter()
        try encoder.encode(
            entity: entity, schemaVersion: schemaVersion, isMoved: isMoved,
            isPacking: isPacking, columns: columns.map { memory.plain($0) }, rows: numbers.count,
            numbers: memory.copy(numbers), versions: memory.copy(versions), into: &writer)
        withExtendedLifetime(memory) {}
        return Array(writer.bytes)
    }

    /// The block in a payload.
    /// - Parameter shape: which columns to look for; another one is an error.
    init(decoding payload: UnsafeRawBufferPointer, shape: [TestColumn]) throws {
        let head = try BlockHead(decoding: payload)
        entity = head.entity
        schemaVersion = head.schemaVersion
        isMoved = head.isMoved
        columns = try shape.map { column in
            let decoded = try DecodedColumn.decode(
                column.propertyID, kind: column.kind, of: head, in: payload)
            if let entry = head.column(column.propertyID),
                try CellReader(of: entry, in: payload, rows: head.rows, decoded).cells(head.rows)
                    != decoded.cells
            {
                throw FormatError(.malformed, "F-503", "cells that are others when read alone")
            }
            return TestColumn(
                kind: column.kind, propertyID: column.propertyID, cells: decoded.cells)
        }
        let numberColumn = try DecodedColumn.decodeNumbers(of: head, in: payload)
        let versionColumn = try DecodedColumn.decodeVersions(of: head, in: payload)
        numbers = (0..<head.rows).map { UInt32(numberColumn.integer(at: $0)) }
        versions = (0..<head.rows).map { UInt32(versionColumn.integer(at: $0)) }
        let known = shape.map(\.propertyID) + [HiddenProperty.number, HiddenProperty.version]
        for entry in head.columns where !known.contains(entry.propertyID) {
            throw FormatError(.malformed, "F-404", "a column that the test does not know")
        }
    }

    /// The block after encoding and decoding.
    func roundTrip() throws -> TestBlock {
        var block = try encode().withUnsafeBytes { try TestBlock(decoding: $0, shape: columns) }
        block.isPacking = isPacking
        return block
    }
}

extension CellReader {
    /// The cells of a column: from its slice if they can be read there, else from the column.
    init(
        of entry: ColumnEntry, in payload: UnsafeRawBufferPointer, rows: Int,
        _ decoded: DecodedColumn
    ) throws {
        self =
            try CellReader(
                verifying: UnsafeRawBufferPointer(rebasing: payload[entry.range]), entry,
                rows: rows) ?? CellReader(decoded)
    }

    /// All cells, each read by itself, the last one first.
    func cells(_ count: Int) throws -> [TestCell?] {
        try (0..<count).reversed().map { row in
            if isNil(row) { return TestCell?.none }
            switch kind {
            case .integer: return .integer(integer(row))
            case .double: return .double(double(row).bitPattern)
            case .float: return .float(float(row).bitPattern)
            case .fixed16: return .fixed16(Array(fixed16(row)))
            case .bytes:
                let stored = try stored(row)
                guard form == .symbols else {
                    return isExternal(row) ? .reference(Array(stored)) : .bytes(Array(stored))
                }
                let bytes = try [UInt8](
                    unsafeUninitializedCapacity: CellReader.mostBytes(stored) + 8
                ) { room, count in
                    guard let made = room.baseAddress.flatMap({ expand(stored, into: $0) }) else {
                        throw badCell(row)
                    }
                    count = made
                }
                guard try symbols.length(stored) == bytes.count else {
                    throw FormatError(.malformed, "F-569", "a length that is another one")
                }
                return .bytes(bytes)
            }
        }.reversed()
    }
}
