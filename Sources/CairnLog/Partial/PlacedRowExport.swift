// The lines of the canonical export for exported rows, wherever their store is.                               Format 80
//
// Threads: one.

import CairnFormat
import CairnModel
package import CairnStore
import FoundationEssentials

/// Writes rows in the form of the canonical export.
package struct PlacedRowExport: ~Copyable {
    /// The number of bytes to collect before they are passed on.
    private static let pieceBytes = 1 << 20

    private let catalog: Catalog
    private var writer = ByteWriter(capacity: 1 << 20)

    /// Writes the line about the store.
    package init(_ catalog: Catalog) {
        self.catalog = catalog
        writer.append(
            utf8:
                "{\"cairn\":\"export\",\"format\":\(FormatVersion.current),\"schema\":\(catalog.version)}\n"
        )
    }

    /// Passes the collected bytes to the closure, if there are enough for a piece.
    package mutating func give(
        isEnd: Bool = false, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard isEnd || writer.count >= Self.pieceBytes else { return }
        try body(writer.bytes)
        writer.reset()
    }

    /// Adds an object.
    package mutating func add(_ row: PartialStore.PlacedRow) throws(StoreError) {
        let columns = catalog.schema.entities[row.entity].columns
        begin(row.entity, row.number, row.version)
        for (index, value) in row.values.enumerated() {
            name(index, of: row.entity)
            guard !value.isNull else {
                writer.append(utf8: "null")
                continue
            }
            try append(value, columns[index].kind)
        }
        end(row.places, of: row.entity)
    }

    /// Adds a pair.
    package mutating func add(_ pair: PartialStore.PlacedPair) {
        let entity = catalog.entityIndex(ofPairs: pair.pairs)
        begin(entity, pair.number, pair.version)
        for (index, end) in [pair.source, pair.destination].enumerated() {
            name(index, of: entity)
            CanonicalNumber.append(integer: Int64(end), to: &writer)
        }
        end(pair.places, of: entity)
    }

    private mutating func begin(_ entity: Int, _ number: UInt32, _ version: UInt32) {
        writer.append(utf8: "{\"entity\":")
        CanonicalText.append(catalog.entities[entity].name, to: &writer)
        writer.append(utf8: ",\"id\":\(number),\"version\":\(version),\"values\":{")
    }

    private mutating func name(_ index: Int, of entity: Int) {
        if index > 0 { writer.append(UInt8(ascii: ",")) }
        CanonicalText.append(catalog.entities[entity].allColumns[index].name, to: &writer)
        writer.append(UInt8(ascii: ":"))
    }

    private mutating func end(_ places: [Int64?], of entity: Int) {
        let columns = catalog.entities[entity].columns.count
        for place in catalog.entities[entity].orders.indices {
            name(columns + place, of: entity)
            if place < places.count, let key = places[place] {
                CanonicalNumber.append(integer: key, to: &writer)
            } else {
                writer.append(utf8: "null")
            }
        }
        writer.append(utf8: "}}\n")
    }

    private mutating func append(_ value: Value, _ kind: SchemaColumn.Kind) throws(StoreError) {
        switch value {
        case .null: writer.append(utf8: "null")
        case .integer(let number): CanonicalNumber.append(integer: number, to: &writer)
        case .objectID(let id):
            CanonicalNumber.append(integer: Int64(bitPattern: id.reference), to: &writer)
        case .boolean(let truth): writer.append(utf8: truth ? "true" : "false")
        case .double(let number): CanonicalNumber.append(double: number, to: &writer)
        case .float(let number): CanonicalNumber.append(float: number, to: &writer)
        case .date(let date):
            CanonicalDate.append(date.timeIntervalSinceReferenceDate, to: &writer)
        case .uuid(let uuid):
            withUnsafeBytes(of: uuid.uuid) { CanonicalText.append(uuid: $0, to: &writer) }
        case .string(let text): CanonicalText.append(text, to: &writer)
        case .uri(let url): CanonicalText.append(url.absoluteString, to: &writer)
        case .binary(let data):
            data.withUnsafeBytes { CanonicalText.append(base64: $0, to: &writer) }
        case .decimal:
            guard case .bytes(let bytes) = PastCell(value) else { return }
            do {
                let decimal = try bytes.withUnsafeBytes { try DecimalBytes(decoding: $0) }
                CanonicalNumber.append(decimal: decimal, to: &writer)
            } catch {
                throw .damaged("a decimal number has no form in which it can be written: \(error)")
            }
        }
    }
}
