// Looks up objects by the keys of a uniqueness constraint, many in one query.
//
//   SELECT k.p, r."_id", … FROM unnest($1::bigint[], $2::text[]) AS k(p, k0) JOIN … AS r ON r."code" = k.k0 ORDER BY k.p
//
// Threads: plain values.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// How to look up objects by a constraint.
struct KeyLookup {
    private let key: KeyLayout.Key
    private let request: StoreLookup
    private let layout: TableLayout
    private let types: [ColumnType]

    /// Nil if the constraint is none of the store's.
    init?(_ constraint: SchemaConstraint, _ request: StoreLookup, _ core: StoreCore) {
        let key = core.keys.keys.first {
            $0.entity == constraint.declaringEntity && $0.constraint.names == constraint.names
                && $0.constraint.options == nil
        }
        guard let key else { return nil }
        self.key = key
        self.request = request
        layout = core.layout
        switch key.form {
        case .column: types = [.bytea]
        case .columns:
            types = constraint.columns.map { column in
                switch core.layout.column(column, of: request.entity.index).type {
                // A number that is too large for the column is looked for all the same.
                case .smallint, .integer: .bigint
                case let type: type
                }
            }
        }
    }

    func question() -> Question { Question(self) }

    /// Keys that are looked up together.
    struct Question {
        private let lookup: KeyLookup
        private var places = SQLArray(of: .int64)
        private var values: [ColumnArray]
        /// How many keys there are.
        var count: Int { places.count }
        /// How many bytes they are.
        var byteCount: Int { values.reduce(0) { $0 + $1.array.fields.count } }

        fileprivate init(_ lookup: KeyLookup) {
            self.lookup = lookup
            values = lookup.types.map { ColumnArray($0) }
        }

        /// Adds a key. One that nobody can have is left out.
        mutating func add(_ key: [Value], place: Int) throws(StoreError) {
            if key.contains(where: \.hasNoKey) { return }
            do throws(SQLFailure) {
                if try append(key) { places.append(number: Int64(place)) }
            } catch {
                throw StoreError(error)
            }
        }

        /// Whether anybody can have the key.
        private mutating func append(_ key: [Value]) throws(SQLFailure) -> Bool {
            switch lookup.key.form {
            case .columns:
                for (index, value) in key.enumerated() { try values[index].append(value) }
            case .column:
                var row = [Value](repeating: .null, count: lookup.request.entity.columns.count)
                for (column, value) in zip(lookup.key.constraint.columns, key) {
                    row[column] = value
                }
                guard let bytes = lookup.key.bytes.bytes(row) else { return false }
                try values[0].append(.binary(Data(bytes)))
            }
            return true
        }

        var statement: Statement {
            let layout = lookup.layout
            let entity = lookup.request.entity
            let lists = lookup.types.enumerated().map { ColumnArray.sql($0 + 2, $1) }
            let names = lookup.types.indices.map { "k\($0)" }
            var terms = lookup.key.terms("r", names.map { "k." + $0 }, layout)
            if entity.family.count < layout.schema.entities[entity.root].family.count {
                let codes = entity.family.sorted().map { "\(layout.code(of: $0))" }
                terms.append(
                    "r.\(TableLayout.Fixed.entity.quoted) IN (\(codes.joined(separator: ", ")))")
            }
            let list = AnswerBatch.list("r", entity, lookup.request.columns, layout)
            let table = layout.sql(layout.tables[layout.table(of: entity.index)].name)
            return Statement(
                """
                SELECT k.p, \(list) FROM unnest($1::bigint[], \(lists.joined(separator: ", "))) \
                AS k(p, \(names.joined(separator: ", "))) \
                JOIN \(table) AS r ON \(terms.joined(separator: " AND ")) ORDER BY k.p
                """, [.array(places)] + values.map(\.parameter))
        }
    }
}

extension Value {
    /// Whether no stored key has such a part: nil, or a text that the server cannot keep.
    fileprivate var hasNoKey: Bool {
        switch self {
        case .null: true
        case .string(let text): text.utf8.contains(0)
        default: false
        }
    }
}
