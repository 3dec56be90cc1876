// Converts cells of a list to targets of relationships.
//
//   value       the key, if one attribute is a key; otherwise an id in its printed form: p17 or a URI. A
//               value that can be the key is the key
//   object      the attributes of a key; other attributes are used if the target is created
//   array       such values and objects, for a to-many relationship
//   CSV cell    the keys with a separator between them, for a to-many relationship; spaces around them are
//               ignored
//   nothing     no target, or no targets at all
//
// Threads: one reader.

import CairnModel
import CairnStore

/// The targets of a cell, or the reason why there are none.
enum TargetConversion {
    case targets([RowTarget])
    case failure(String)
}

/// Converts cells to targets.
struct TargetReader {
    /// The separator of the keys in a CSV cell.
    var separator = ";"
    /// Whether targets are created from the given attributes.
    var makesTargets = false
    /// Returns the object for an id in its printed form; nil if the text is not an id.
    ///
    /// - Throws: an error if the id is invalid.
    var identify: ((_ text: String, _ entity: SchemaEntity) throws -> ObjectID?)?

    /// Returns the targets of a cell.
    func targets(
        _ cell: ListRecord.Cell, of record: ListRecord, _ field: RelatedField,
        _ binder: FieldBinder
    ) -> TargetConversion {
        switch cell.kind {
        case .null: return .targets([])
        case .nested:
            guard field.isToMany else {
                return .failure("\(field.name) is to-one: provide one key, not a list")
            }
            do throws(ListError) {
                return try nested(Array(record.bytes[cell.range]), field, binder)
            } catch {
                return .failure(error.message)
            }
        case .text where field.isToMany:
            var targets: [RowTarget] = []
            for part in record.text(cell).split(separator: separator) {
                let key = part.trimming(while: { $0 == " " })
                if key.isEmpty { continue }
                switch target(
                    String(key), { CellConversion(text: $0, as: $1, isKey: true) }, field)
                {
                case .targets(let some): targets += some
                case .failure(let reason): return .failure("\(key): \(reason)")
                }
            }
            return .targets(targets)
        case .no, .yes, .number, .string, .text:
            return target(record.text(cell), { record.value(of: cell, as: $1, isKey: true) }, field)
        }
    }

    /// Returns the target of a single value.
    private func target(
        _ text: String, _ convert: (String, AttributeType) -> CellConversion, _ field: RelatedField
    ) -> TargetConversion {
        let isURI = text.hasPrefix("x-cairn://") || text.hasPrefix("x-coredata://")
        var reason =
            "\(field.destination.name) has no key with a single attribute: identify the target by \(field.keys), as an object or in separate columns, or by its id"
        if !isURI, let key = field.key {
            switch convert(text, key.type) {
            case .value(let value): return .targets([.key(value)])
            case .failure(let why): reason = why
            }
        }
        do {
            if let id = try identify?(text, field.destination) { return .targets([.id(id)]) }
        } catch {
            return .failure("\(error)")
        }
        return .failure(reason)
    }

    // MARK: Arrays and objects

    private func nested(_ json: [UInt8], _ field: RelatedField, _ binder: FieldBinder)
        throws(ListError) -> TargetConversion
    {
        var scanner = try JSONScanner(MemoryByteStream(json), capacity: max(json.count, 1))
        if try scanner.kind() == .object { return try object(&scanner, field, binder) }
        try scanner.enterArray()
        var targets: [RowTarget] = []
        var isFirst = true
        while try scanner.nextElement(isFirst: &isFirst) {
            let element: TargetConversion
            switch try scanner.kind() {
            case .object: element = try object(&scanner, field, binder)
            case .array: return .failure("an array inside the array cannot identify a target")
            case .null: return .failure("null in the array cannot identify a target")
            case .string, .number, .boolean:
                let (record, cell) = try Self.value(&scanner)
                element = target(
                    record.text(cell), { record.value(of: cell, as: $1, isKey: true) }, field)
            }
            switch element {
            case .targets(let some): targets += some
            case .failure: return element
            }
        }
        return .targets(targets)
    }

    private func object(
        _ scanner: inout JSONScanner, _ field: RelatedField, _ binder: FieldBinder
    ) throws(ListError) -> TargetConversion {
        try scanner.enterObject()
        var values: [String: Value] = [:]
        var (key, isFirst) = ([UInt8](), true)
        while try scanner.nextKey(into: &key, isFirst: &isFirst) {
            let member = String(decoding: key, as: UTF8.self)
            guard let name = binder.attributeName(member, of: field) else {
                try scanner.skipValue()
                continue
            }
            let part: RelatedField.Part
            switch field.attribute(name) {
            case .success(let known): part = known
            case .failure(let refusal):
                return .failure(
                    "\(refusal): rename it with --map, or drop it: --map '\(binder.fieldName(member, of: field))='"
                )
            }
            let (record, cell) = try Self.value(&scanner)
            switch record.value(of: cell, as: part) {
            case .value(let value):
                guard values.updateValue(value, forKey: name) == nil else {
                    return .failure("two of its members are named \(name)")
                }
            case .failure(let reason): return .failure("\(member): \(reason)")
            }
        }
        guard let target = field.target(values, isMade: makesTargets) else {
            return .failure(
                "the key of \(field.destination.name), \(field.keys), is missing")
        }
        return .targets([target])
    }

    /// Reads the next value as the only cell of a record.
    private static func value(_ scanner: inout JSONScanner) throws(ListError)
        -> (ListRecord, ListRecord.Cell)
    {
        var record = ListRecord()
        record.begin(line: 1)
        switch try scanner.kind() {
        case .null:
            try scanner.takeNull()
            record.add(0, .null, from: 0, line: 1)
        case .boolean: record.add(0, try scanner.takeBoolean() ? .yes : .no, from: 0, line: 1)
        case .number:
            try scanner.takeNumber(into: &record.bytes)
            record.add(0, .number, from: 0, line: 1)
        case .string:
            try scanner.takeString(into: &record.bytes)
            record.add(0, .string, from: 0, line: 1)
        case .object, .array:
            try scanner.takeCompact(into: &record.bytes)
            record.add(0, .nested, from: 0, line: 1)
        }
        return (record, record.cells[0])
    }
}

extension ListRecord {
    /// Converts a cell to a value of a target's attribute.
    func value(of cell: Cell, as part: RelatedField.Part) -> CellConversion {
        value(of: cell, as: part.type, keepsNested: part.keepsNested, isKey: part.isKey)
    }
}

extension Substring {
    /// Returns the text without such characters at both ends.
    fileprivate func trimming(while isLeft: (Character) -> Bool) -> Substring {
        var rest = drop(while: isLeft)
        while let last = rest.last, isLeft(last) { rest.removeLast() }
        return rest
    }
}
