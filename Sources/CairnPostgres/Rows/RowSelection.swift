// Reads rows of objects: the columns of a query, and the decoding of its result.
//
// Threads: plain values.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// The rows of one table of objects, as a query selects them.
struct RowSelection {
    let layout: TableLayout
    let table: Int
    let identity: StoreIdentity

    /// What stands before the columns.
    private static let fixed = 3

    /// What is selected, of a table under a name.
    func list(_ name: String) -> String {
        let fixed = [
            TableLayout.Fixed.id, TableLayout.Fixed.entity, TableLayout.Fixed.version,
        ].map { "\(name).\($0.quoted)" }
        let columns = layout.tables[table].columns.map { "\(name).\($0.name.quoted)" }
        return (fixed + columns).joined(separator: ", ")
    }

    /// What is selected where nothing but ids is wanted.
    func identities(_ name: String) -> String {
        "\(name).\(TableLayout.Fixed.id.quoted), \(name).\(TableLayout.Fixed.entity.quoted)"
    }

    /// An id of such an answer.
    func id(_ result: PostgresResult, _ row: Int) throws(SQLFailure) -> ObjectID {
        guard let number = UInt32(exactly: try result.int64(row, 0)),
            let entity = layout.entity(ofCode: try result.int16(row, 1)),
            layout.table(of: entity) == table
        else { throw notAnObject }
        return identity.id(UInt64(number), entity: entity)
    }

    private var notAnObject: SQLFailure {
        SQLFailure(
            .unreadable,
            "a row of the table \(layout.tables[table].name) does not contain an object")
    }

    /// How many columns are selected.
    var count: Int { Self.fixed + layout.tables[table].columns.count }

    /// The number, entity and version of a row.
    func head(_ result: PostgresResult, _ row: Int) throws(SQLFailure) -> (
        number: UInt32, entity: Int, version: UInt32
    ) {
        guard let number = UInt32(exactly: try result.int64(row, 0)),
            let entity = layout.entity(ofCode: try result.int16(row, 1)),
            layout.table(of: entity) == table,
            let version = UInt32(exactly: try result.int32(row, 2))
        else { throw notAnObject }
        return (number, entity, version)
    }

    /// A row of the answer with all its values.
    func placedRow(_ result: PostgresResult, _ row: Int) throws(SQLFailure)
        -> PartialStore.PlacedRow
    {
        let (number, entity, version) = try head(result, row)
        return PartialStore.PlacedRow(
            entity: entity, number: number, version: version,
            values: try values(result, row, entity), places: try places(result, row, entity))
    }

    /// How the columns of an entity are read, and where they are in the answer.
    func forms(of entity: Int) -> [(form: CellForm, place: Int)] {
        zip(layout.schema.entities[entity].columns, layout.columns(of: entity)).map {
            (CellForm($0), Self.fixed + $1)
        }
    }

    private func values(_ result: PostgresResult, _ row: Int, _ entity: Int) throws(SQLFailure)
        -> [Value]
    {
        let columns = layout.schema.entities[entity].columns
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        for (column, place) in zip(columns, layout.columns(of: entity)) {
            values.append(try value(result, row, Self.fixed + place, column))
        }
        return values
    }

    private func places(_ result: PostgresResult, _ row: Int, _ entity: Int) throws(SQLFailure)
        -> [Int64?]
    {
        var places: [Int64?] = []
        for place in layout.places(of: entity) {
            let column = Self.fixed + place
            places.append(result.isNull(row, column) ? nil : try result.int64(row, column))
        }
        return places
    }

    private func value(
        _ result: PostgresResult, _ row: Int, _ place: Int, _ column: SchemaColumn
    ) throws(SQLFailure) -> Value {
        if result.isNull(row, place) { return .null }
        switch column.kind {
        case .reference(let root):
            return .objectID(
                identity.id(UInt64(bitPattern: try result.int64(row, place)), entity: root))
        case .attribute(let type): return try Self.value(result, row, place, type)
        }
    }

    /// A value of an attribute that is not nil.
    static func value(_ result: PostgresResult, _ row: Int, _ place: Int, _ type: AttributeType)
        throws(SQLFailure) -> Value
    {
        switch type {
        case .integer16: return .integer(Int64(try result.int16(row, place)))
        case .integer32: return .integer(Int64(try result.int32(row, place)))
        case .integer64: return .integer(try result.int64(row, place))
        case .decimal:
            guard let number = Decimal(exactText: try result.numeric(row, place)) else {
                throw SQLFailure(.unreadable, "a decimal number has too many digits")
            }
            return .decimal(number)
        case .double: return .double(try result.double(row, place))
        case .float: return .float(try result.float(row, place))
        case .string: return .string(try result.string(row, place))
        case .boolean: return .boolean(try result.bool(row, place))
        case .date:
            return .date(Date(timeIntervalSinceReferenceDate: try result.double(row, place)))
        case .binary, .transformable: return .binary(Data(try result.bytes(row, place)))
        case .uuid: return .uuid(try result.uuid(row, place))
        case .uri:
            let text = try result.string(row, place)
            guard let url = URL(string: text) else {
                throw SQLFailure(.unreadable, "a string in place of a URI is not a URI")
            }
            return .uri(url)
        case .undefined, .objectID, .composite:
            preconditionFailure("no column has values of the type \(type)")
        }
    }
}
