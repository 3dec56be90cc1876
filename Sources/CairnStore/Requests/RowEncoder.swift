// Encodes a value directly into the columns of a batch's row.
//
//   1. The value asks for a keyed container; each key is the name of a column.
//   2. The columns of the row before are remembered in the order they came: the next key is compared with
//      the next of them, and only looked up by its hash if it is another one.
//   3. What fits the column goes in directly; other numbers go by way of `Value.converted(to:)`.
//   4. A value that is not one of ours encodes itself again under its key (`CellEncoder`): enums end in
//      a single value, nested objects in dotted keys.
//
// Invariants: `expected` points into `order` or to its end; a column is in `order` at most once.
// Threads: one encoder belongs to one filler.

import CairnModel
import FoundationEssentials

/// An encoder whose output is one row; reused for each row.
final class RowEncoder: Encoder {
    private struct Known {
        let name: String
        let column: Int
    }

    /// What changes from row to row. Apart, because a stored property of a class is checked for exclusive
    /// access at each use, which was a tenth of the time.
    private struct State {
        /// The columns met so far, in the order of their keys.
        var order: [Known] = []
        /// The place in `order` of the next key, if the row is like the one before.
        var expected = 0
        var columns: UnsafeMutablePointer<ColumnBuffer>
        /// The row that is being encoded; -1 between rows.
        var row = -1
        var requestRow = 0
        /// What went wrong where nothing can be thrown.
        var failure: StoreError?
        /// The types of the columns; `objectID` for references, and behind the columns `undefined` for parts of targets' keys.
        var types: [AttributeType]
        /// The parts of targets' keys that were met so far: the column of the reference, and the part's name.
        var parts: [(column: Int, name: String)] = []
        /// By column of a reference, what the row says of its target's key.
        var targets: [Int: [String: Value]] = [:]
        /// What the row says of to-many relationships, by their indexes.
        var lists: [(relationship: Int, members: EncodedMembers)] = []
    }

    let entity: SchemaEntity
    private let state: UnsafeMutablePointer<State>

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ entity: SchemaEntity) {
        self.entity = entity
        let types = entity.columns.map { column -> AttributeType in
            if case .attribute(let type) = column.kind { type } else { .objectID }
        }
        state = .allocate(capacity: 1)
        // The columns are replaced before each row.
        let none = UnsafeMutablePointer<ColumnBuffer>(
            bitPattern: MemoryLayout<ColumnBuffer>.alignment)!
        state.initialize(to: State(columns: none, types: types))
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    private var columns: UnsafeMutablePointer<ColumnBuffer> { state.pointee.columns }
    private var row: Int { state.pointee.row }

    /// Encodes a value into the row after the last one of a batch.
    func encode(_ value: some Encodable, into batch: ColumnBatch, firstRow: Int) throws {
        guard let base = batch.columns.baseAddress else { return }
        state.pointee.columns = base
        state.pointee.row = batch.rows
        state.pointee.requestRow = firstRow + batch.rows
        state.pointee.expected = 0
        state.pointee.failure = nil
        // Whoever kept a container finds no column by it later, when the batch may be gone.
        defer {
            state.pointee.row = -1
            state.pointee.expected = state.pointee.order.count
        }
        if !state.pointee.targets.isEmpty { state.pointee.targets = [:] }
        if !state.pointee.lists.isEmpty { state.pointee.lists = [] }
        try value.encode(to: self)
        if let failure = state.pointee.failure { throw failure }
        for (column, values) in state.pointee.targets {
            columns[column].setLink(.keys(values), row: row)
        }
        for (relationship, members) in state.pointee.lists {
            batch.lists.pointee.append(
                .replacing(members.targets), relationship: relationship, row: row)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RowContainer<Key>(row: self, prefix: ""))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { list(key: nil) }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        CellContainer(row: self, name: "")
    }

    // MARK: Columns

    /// The column of a key.
    func column(_ name: String) throws -> Int {
        var next = state.pointee.expected
        // Keys of optional properties may be left out, so a few more are tried.
        let end = min(next + 4, state.pointee.order.count)
        while next < end {
            if state.pointee.order[next].name == name {
                state.pointee.expected = next + 1
                return state.pointee.order[next].column
            }
            next += 1
        }
        guard row >= 0 else { throw error(name, "the row was already encoded") }
        guard let column = try entity.columnIndex(named: name) ?? part(name) else {
            throw state.pointee.failure ?? unknownKey(name)
        }
        if let place = state.pointee.order.firstIndex(where: { $0.column == column }) {
            state.pointee.expected = place + 1
        } else {
            try checkMayBeSet(column)
            // In its place, so that the row after this one finds the keys in their order.
            let place = state.pointee.expected
            state.pointee.order.insert(Known(name: name, column: column), at: place)
            state.pointee.expected = place + 1
        }
        return column
    }

    /// A number for a part of the key of a relationship's target, behind those of the columns; nil if the name is none.
    private func part(_ name: String) throws -> Int? {
        guard let (column, part) = entity.targetPart(name) else { return nil }
        state.pointee.parts.append((column, part))
        state.pointee.types.append(.undefined)
        return state.pointee.types.count - 1
    }

    private func checkMayBeSet(_ column: Int) throws {
        guard column < entity.columns.count, entity.columns[column].attribute != nil else { return }
        if let reason = entity.columns[column].reasonNotToBeSet {
            throw error(entity.columns[column].name, reason)
        }
    }

    private func unknownKey(_ name: String) -> StoreError {
        if name.isEmpty { return error(nil, "a row must be an object with keys") }
        return error(name, entity.reasonForUnknownKey(name))
    }

    func error(
        _ key: String?, _ message: String, _ value: Value? = nil, detail: String? = nil
    ) -> StoreError {
        StoreError(
            .invalidRequest, message,
            context: .init(
                entity: entity.name, key: key, row: state.pointee.requestRow, value: value,
                detail: detail))
    }

    // MARK: Values

    func set(_ value: Value, type: String, for name: String) throws {
        let column = try column(name)
        try set(value, type: type, in: column)
    }

    private func set(_ value: Value, type: String, in column: Int) throws {
        switch state.pointee.types[column] {
        case .objectID: return columns[column].setLink(RowTarget(value), row: row)
        case .undefined:
            let (reference, name) = state.pointee.parts[column - entity.columns.count]
            state.pointee.targets[reference, default: [:]][name] = value
            return
        default: break
        }
        guard let exact = value.converted(to: state.pointee.types[column]),
            columns[column].store(exact, row: row)
        else {
            let wanted = state.pointee.types[column].rawValue
            throw error(
                entity.columns[column].name, "the \(type) is not a value of type \(wanted)", value,
                detail: "the \(type) \(value) is not a value of type \(wanted)")
        }
    }

    func set(_ value: String, for name: String) throws {
        let column = try column(name)
        if state.pointee.types[column] == .string {
            columns[column].setString(value, row: row)
        } else {
            try set(.string(value), type: "String", in: column)
        }
    }

    func set(_ value: Bool, for name: String) throws {
        let column = try column(name)
        if state.pointee.types[column] == .boolean {
            columns[column].setInteger(value ? 1 : 0, row: row)
        } else {
            try set(.boolean(value), type: "Bool", in: column)
        }
    }

    func set(_ value: Double, for name: String) throws {
        let column = try column(name)
        if state.pointee.types[column] == .double {
            columns[column].setDouble(value, row: row)
        } else {
            try set(.double(value), type: "Double", in: column)
        }
    }

    func set<Integer: FixedWidthInteger>(_ value: Integer, for name: String) throws {
        let column = try column(name)
        guard let exact = Int64(exactly: value) else {
            // Only a decimal or a double may still be able to hold it.
            guard let wide = UInt64(exactly: value) else {
                let wanted = state.pointee.types[column].rawValue
                throw error(
                    name, "the \(Integer.self) is not a value of type \(wanted)",
                    detail: "\(value) is not a value of type \(wanted)")
            }
            return try set(.decimal(Decimal(wide)), type: "\(Integer.self)", in: column)
        }
        if state.pointee.types[column] == .integer64 {
            columns[column].setInteger(exact, row: row)
        } else {
            try set(.integer(exact), type: "\(Integer.self)", in: column)
        }
    }

    func setNil(for name: String) throws {
        if row >= 0, entity.columnIndex(named: name) == nil,
            let leaves = entity.compositeColumns(name)
        {
            for column in leaves {
                try checkMayBeSet(column)
                columns[column].setNil(row: row)
            }
        } else if row >= 0, let list = entity.listIndex(name) {
            state.pointee.lists.append((list, EncodedMembers()))
        } else {
            let column = try column(name)
            switch state.pointee.types[column] {
            case .objectID, .undefined: try set(.null, type: "nil", in: column)
            default: columns[column].setNil(row: row)
            }
        }
    }

    func set<T: Encodable>(any value: T, for name: String) throws {
        // The types that have an encoding of their own, which is not the one of a column. Comparing
        // metatypes costs nothing beside a dynamic cast.
        if T.self == Date.self {
            let date = unsafeBitCast(value, to: Date.self)
            return try set(.date(date), type: "Date", for: name)
        }
        if T.self == UUID.self {
            let uuid = unsafeBitCast(value, to: UUID.self)
            return try set(.uuid(uuid), type: "UUID", for: name)
        }
        if T.self == URL.self || T.self == Data.self || T.self == Decimal.self
            || T.self == [UInt8].self,
            let plain = Value(any: value)
        {
            return try set(plain, type: "\(T.self)", for: name)
        }
        try value.encode(to: CellEncoder(row: self, name: name))
        if let failure = state.pointee.failure { throw failure }
    }

    // MARK: Lists

    /// Takes the members of a to-many relationship; under another key, and for the row itself, a container that takes nothing.
    func list(key: String?) -> any UnkeyedEncodingContainer {
        guard row >= 0, let key, let list = entity.listIndex(key) else {
            return refuseList(key: key)
        }
        let members = EncodedMembers()
        state.pointee.lists.append((list, members))
        return MembersContainer(
            members: members,
            error: error(
                key,
                "a member of the relationship must be a value, an id or an object with keys"
            ))
    }

    // MARK: What a row cannot have

    /// Notes that a list was given, and returns a container that takes nothing.
    private func refuseList(key: String?) -> any UnkeyedEncodingContainer {
        let isMany = key.map { entity.columnIndex(named: $0) == nil } ?? false
        let error = error(
            key,
            isMany
                ? entity.reasonForUnknownKey(key ?? "")
                : key == nil ? "a row cannot be a list" : "a list is not a value of an attribute")
        note(error)
        return RefusingContainer(error: error)
    }

    /// Notes an object under a key that is no composite attribute: an empty one would pass unseen.
    func checkIsComposite(_ name: String) {
        if row >= 0, let column = entity.columnIndex(named: name),
            entity.columns[column].attribute == nil
        {
            // The parts of its target's key follow; an empty object names nothing.
            state.pointee.targets[column, default: [:]] = [:]
            return
        }
        if entity.compositeColumns(name) == nil {
            note(
                entity.columnIndex(named: name) == nil
                    ? unknownKey(name)
                    : error(name, "an object with keys is not a value of this attribute"))
        }
    }

    private func note(_ error: StoreError) {
        if state.pointee.failure == nil { state.pointee.failure = error }
    }
}

extension SchemaColumn {
    /// Why a row of a batch may not set the column; nil if it may.
    package var reasonNotToBeSet: String? {
        if isDerived { return "a derived attribute is computed by the store and cannot be set" }
        return nil
    }
}

extension SchemaEntity {
    /// The column of a to-one relationship and the name of a part of its target's key, of a dotted name; nil if it is none.
    func targetPart(_ name: String) -> (column: Int, part: String)? {
        guard let dot = name.firstIndex(of: "."),
            let column = columnIndex(named: String(name[..<dot])), columns[column].attribute == nil
        else { return nil }
        return (column, String(name[name.index(after: dot)...]))
    }

    /// Why a key that is no column cannot be set.
    func reasonForUnknownKey(_ name: String) -> String {
        if compositeColumns(name) != nil {
            return "a composite attribute takes an object with keys, not a single value"
        }
        if attributeIndex(named: name) != nil {
            return "the attribute is transient: it is not stored"
        }
        if let index = relationshipIndex(named: name) {
            return relationships[index].storage == .transient
                ? "the relationship is transient: it is not stored"
                : "the members of a to-many relationship must be a list"
        }
        return "the entity has no stored attribute of this name"
    }
}
