// Models, batches and random numbers that the tests of this target share.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

enum Samples {
    /// One attribute of every storable type, all optional.
    static let everyType: [AttributeDescription] = [
        .init("small", .integer16), .init("medium", .integer32), .init("large", .integer64),
        .init("exact", .decimal), .init("real", .double), .init("short", .float),
        .init("text", .string), .init("flag", .boolean), .init("moment", .date),
        .init("bytes", .binary), .init("key", .uuid), .init("link", .uri),
        .init("archive", .transformable),
    ]

    static func entity(_ attributes: [AttributeDescription], name: String = "Sample") throws
        -> SchemaEntity
    {
        let model = ManagedObjectModel(entities: [EntityDescription(name, attributes: attributes)])
        return try #require(try Schema(model).entity(named: name))
    }

    /// An entity with a composite attribute, a derived and a transient one, and a relationship.
    static func rich() throws -> SchemaEntity {
        var color = AttributeDescription("color", .composite)
        var inner = AttributeDescription("shade", .composite)
        inner.elements = [.init("depth", .double), .init("label", .string)]
        color.elements = [.init("primary", .string), .init("count", .integer32), inner]
        var derived = AttributeDescription("upper", .string, optional: false)
        derived.derivationExpression = "uppercase:(name)"
        var transient = AttributeDescription("cache", .string)
        transient.isTransient = true
        let entity = EntityDescription(
            "Rich", attributes: [.init("name", .string), color, derived, transient],
            relationships: [.init("parent", to: "Rich")])
        return try #require(
            try Schema(ManagedObjectModel(entities: [entity])).entity(named: "Rich"))
    }

    /// The value of a cell of a batch, as it would be stored.
    static func value(_ batch: ColumnBatch, _ name: String, row: Int) throws -> Value {
        let index = try #require(batch.entity.columnIndex(named: name))
        let column = batch.columns[index]
        if column.isNil(row: row) { return .null }
        let store = StoreIdentity(identifier: UUID(), hierarchies: [1])
        var builder = RowCellsBuilder(columns: batch.entity.columns.count)
        switch column.kind {
        case .integer:
            builder.set(index, word: column.values.load(fromByteOffset: row * 8, as: UInt64.self))
        case .double:
            builder.set(index, word: column.values.load(fromByteOffset: row * 8, as: UInt64.self))
        case .float:
            let word = column.values.load(fromByteOffset: row * 4, as: UInt32.self)
            builder.set(index, word: UInt64(word))
        case .bytes: builder.set(index, bytes: column.bytes(row: row))
        case .fixed16:
            builder.set(
                index, bytes: UnsafeRawBufferPointer(start: column.values + row * 16, count: 16))
        }
        return builder.finish().value(index, of: batch.entity, in: store)
    }

    /// A random value for an attribute of a type, nil at times.
    static func value(_ type: AttributeType, using random: inout RandomSource) -> Value {
        if Int.random(in: 0..<6, using: &random) == 0 { return .null }
        switch type {
        case .integer16: return .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
        case .integer32: return .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
        case .integer64: return .integer(.random(in: .min ... .max, using: &random))
        case .decimal: return .decimal(decimal(using: &random))
        case .double: return .double(Double(bitPattern: random.next()))
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
        case .boolean: return .boolean(.random(using: &random))
        case .date:
            return .date(
                Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)))
        case .string: return .string(text(using: &random))
        case .binary, .transformable: return .binary(Data(text(using: &random).utf8))
        case .uuid:
            return .uuid(UUID(uuid: unsafeBitCast((random.next(), random.next()), to: uuid_t.self)))
        case .uri:
            return URL(string: "https://example.org/\(random.next())").map(Value.uri) ?? .null
        case .undefined, .objectID, .composite: return .null
        }
    }

    static func text(using random: inout RandomSource) -> String {
        let letters = Array("abcdefghij é漢🙂\u{0}")
        return String(
            (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                letters[Int.random(in: 0..<letters.count, using: &random)]
            })
    }

    /// A number with up to 38 digits and any exponent that fits.
    static func decimal(using random: inout RandomSource) -> Decimal {
        let digits = Int.random(in: 1...38, using: &random)
        let text = (0..<digits).map { _ in "\(Int.random(in: 0...9, using: &random))" }.joined()
        let exponent = Int.random(in: -128...(127 - 38), using: &random)
        let sign = Bool.random(using: &random) ? "-" : ""
        return Decimal(string: "\(sign)\(text)e\(exponent)") ?? 0
    }
}

/// What a filler gives for a request: all batches, sealed.
func fill(_ request: BatchInsertRequest, _ entity: SchemaEntity) throws -> ColumnBatch {
    let batch = ColumnBatch(entity)
    var filler = try request.makeFiller(for: entity)
    #expect(try filler.fill(batch, firstRow: 0))
    try batch.seal(firstRow: 0)
    return batch
}

/// The error that a body throws.
func storeError(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) throws
    -> StoreError
{
    let error = #expect(throws: StoreError.self, sourceLocation: location, performing: body)
    return try #require(error, sourceLocation: location)
}
