// The kinds of values on the server, and the conversion of constants to them.
//
// The server compares values of one type. Where a constant is of another one the comparison is turned into one that says the
// same: of whole numbers with 2.5, that they are 2 or less. What has no such form is unknown, and decided elsewhere.
//
// Threads: plain values.

import CairnModel
import CairnStore
import FoundationEssentials

/// The kind of a value.
enum SQLKind: Hashable, Sendable {
    case integer, decimal, single, double, boolean, text, date, uri, uuid, bytes
    /// It can only be tested for nil.
    case opaque
    /// The number of an object in a table.
    case object(table: Int)

    init(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64: self = .integer
        case .decimal: self = .decimal
        case .double: self = .double
        case .float: self = .single
        case .string: self = .text
        case .boolean: self = .boolean
        case .date: self = .date
        case .binary: self = .bytes
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .transformable, .undefined, .objectID, .composite: self = .opaque
        }
    }

    /// The type of its constants. Whole numbers of every size are compared with those of 64 bits.
    var type: ColumnType {
        switch self {
        case .integer, .object: .bigint
        case .decimal: .numeric
        case .single: .real
        case .double, .date: .double
        case .boolean: .boolean
        case .text, .uri: .text
        case .uuid: .uuid
        case .bytes, .opaque: .bytea
        }
    }

    /// What is no number, or no moment, of this kind.
    var notANumber: String? {
        switch self {
        case .decimal, .single, .double, .date: "'NaN'::\(type.rawValue)"
        default: nil
        }
    }

    var isOrdered: Bool {
        switch self {
        case .opaque, .object: false
        default: true
        }
    }
}

/// What a constant is beside values of a kind.
enum SQLConstant {
    /// One of them.
    case value(SQLParameter, ColumnType)
    /// None of them can match.
    case never
    /// All of them match that exist and are not NaN.
    case always
    case unknown
}

extension SQLKind {
    /// What equals a constant.
    func equal(to value: Value, _ layout: TableLayout, _ identity: StoreIdentity) -> SQLConstant {
        switch (self, value) {
        case (.integer, .integer(let number)): .value(.int64(number), type)
        case (.integer, .double(let number)):
            Int64(exactly: number).map { .value(.int64($0), type) } ?? .never
        case (.integer, .float(let number)):
            Int64(exactly: number).map { .value(.int64($0), type) } ?? .never
        // The text of a whole number has no point.
        case (.integer, .decimal(let number)):
            Int64("\(number)").map { .value(.int64($0), type) } ?? .never
        case (.boolean, .boolean(let truth)): .value(.bool(truth), type)
        case (.decimal, .decimal(let number)):
            number.isNaN ? .never : .value(.numeric("\(number)"), type)
        case (.decimal, .integer(let number)): .value(.numeric("\(number)"), type)
        case (.single, .float(let number)): number.isNaN ? .never : .value(.float(number), type)
        case (.single, .double(let number)):
            Double(Float(number)) == number ? .value(.float(Float(number)), type) : .never
        case (.single, .integer(let number)):
            Float(exactly: number).map { .value(.float($0), type) } ?? .never
        case (.double, .double(let number)): number.isNaN ? .never : .value(.double(number), type)
        case (.double, .float(let number)):
            number.isNaN ? .never : .value(.double(Double(number)), type)
        case (.double, .integer(let number)):
            Double(exactly: number).map { .value(.double($0), type) } ?? .never
        case (.date, .date(let date)):
            date.timeIntervalSinceReferenceDate.isNaN
                ? .never : .value(.double(date.timeIntervalSinceReferenceDate), type)
        case (.text, .string(let text)):
            // No text at the server has such a character.
            text.utf8.contains(0) ? .never : .value(.text(text), type)
        case (.uri, .uri(let uri)): .value(.text(uri.absoluteString), type)
        case (.uuid, .uuid(let uuid)): .value(.uuid(uuid), type)
        case (.bytes, .binary(let bytes)): .value(.data(bytes), type)
        case (.object(let table), .objectID(let id)):
            identity.owns(id, entity: layout.tables[table].root)
                ? .value(.int64(Int64(bitPattern: id.reference)), type) : .never
        default: .unknown
        }
    }

    /// What is so in order beside a constant: with the operator that says it.
    func ordered(_ relation: SQLRelation, _ value: Value) -> (SQLRelation, SQLConstant) {
        switch (self, value) {
        case (.integer, .integer(let number)): (relation, .value(.int64(number), type))
        case (.integer, .double(let number)): Self.whole(relation, number)
        case (.integer, .float(let number)): Self.whole(relation, Double(number))
        case (.integer, .decimal(let number)): Self.whole(relation, number)
        case (.decimal, .decimal(let number)):
            (relation, number.isNaN ? .never : .value(.numeric("\(number)"), .numeric))
        case (.decimal, .integer(let number)): (relation, .value(.numeric("\(number)"), .numeric))
        case (.boolean, .boolean(let truth)): (relation, .value(.bool(truth), type))
        case (.single, .float(let number)):
            (relation, number.isNaN ? .never : .value(.float(number), type))
        case (.single, .double(let number)), (.double, .double(let number)):
            (relation, number.isNaN ? .never : .value(.double(number), .double))
        case (.double, .float(let number)):
            (relation, number.isNaN ? .never : .value(.double(Double(number)), .double))
        case (.single, .integer(let number)), (.double, .integer(let number)):
            Self.binary(relation, number)
        case (.date, .date(let date)):
            (
                relation,
                date.timeIntervalSinceReferenceDate.isNaN
                    ? .never : .value(.double(date.timeIntervalSinceReferenceDate), type)
            )
        case (.text, .string(let text)):
            (relation, text.utf8.contains(0) ? .unknown : .value(.text(text), type))
        case (.uri, .uri(let uri)): (relation, .value(.text(uri.absoluteString), type))
        case (.uuid, .uuid(let uuid)): (relation, .value(.uuid(uuid), type))
        case (.bytes, .binary(let bytes)): (relation, .value(.data(bytes), type))
        default: (relation, .unknown)
        }
    }

    /// Whole numbers beside any number.
    private static func whole(_ relation: SQLRelation, _ number: Double) -> (
        SQLRelation, SQLConstant
    ) {
        if number.isNaN { return (relation, .never) }
        if let integer = Int64(exactly: number) {
            return (relation, .value(.int64(integer), .bigint))
        }
        return below(relation, Int64(exactly: number.rounded(.down)), isPositive: number > 0)
    }

    private static func whole(_ relation: SQLRelation, _ number: Decimal) -> (
        SQLRelation, SQLConstant
    ) {
        if number.isNaN { return (relation, .never) }
        let text = "\(number)"
        if let integer = Int64(text) { return (relation, .value(.int64(integer), .bigint)) }
        // Without what is behind the point a negative number is greater than before.
        let cut = Int64(text.prefix { $0 != "." })
        let floor = number < 0 ? cut.flatMap { $0 > .min ? $0 - 1 : nil } : cut
        return below(relation, floor, isPositive: number > 0)
    }

    /// Whole numbers beside one that is none: beside the next smaller one, if there is one.
    private static func below(_ relation: SQLRelation, _ floor: Int64?, isPositive: Bool) -> (
        SQLRelation, SQLConstant
    ) {
        guard let floor else {
            // Greater or less than all of them.
            return (relation, relation.isLess == isPositive ? .always : .never)
        }
        return (relation.isLess ? .lessOrEqual : .greater, .value(.int64(floor), .bigint))
    }

    /// Numbers with fractions beside a whole number, which need not be one of them: then the nearest one decides.
    private static func binary(_ relation: SQLRelation, _ number: Int64) -> (
        SQLRelation, SQLConstant
    ) {
        let near = Double(number)
        let constant = SQLConstant.value(.double(near), .double)
        // A double of that size is whole, and 128 bits hold it.
        guard let whole = Int128(exactly: near), whole != Int128(number) else {
            return (relation, constant)
        }
        return whole > Int128(number)
            ? (relation.isLess ? .less : .greaterOrEqual, constant)
            : (relation.isLess ? .lessOrEqual : .greater, constant)
    }
}

/// Which of two is less.
enum SQLRelation: String {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    init?(_ relation: PredicateNode.Comparison.Operator) {
        switch relation {
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        default: return nil
        }
    }

    var isLess: Bool { self == .less || self == .lessOrEqual }

    /// The same with the sides changed.
    var turned: SQLRelation {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
