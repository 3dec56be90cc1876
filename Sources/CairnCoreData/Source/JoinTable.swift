// The table of a relationship that no object keeps in a column of its own.
//
//   many-to-many           Z_4TASK(Z_4NOTES, Z_11TASK): named after one of the two relationships and the number of
//                          the entity that has it. A column holds the keys of those that the relationship in its
//                          name leads to, and has the number of their entity. An ordered side has Z_FOK_11TASK
//                          besides. Where names would be there twice a number follows: Z_13TAGS1.
//   with itself            one that is its own inverse has the second column REFLEXIVE
//   to-many, no inverse    a hidden column of the members: Z4NOTES, ordered by Z_FOK_4NOTES
//
// Threads: immutable, so any.

import CairnModel

/// Where the pairs of a relationship are.
struct JoinTable {
    /// The relationship, as an index of the schema's pairs.
    let pairs: Int
    let table: String
    /// The columns with the keys of the two sides.
    let sourceColumn: String
    let destinationColumn: String
    /// The tables of the objects of the two sides.
    let sourceTable: Int
    let destinationTable: Int
    /// The order of what a source leads to; nil if the relationship has none.
    let sourceOrder: String?
    /// The order of what leads to a destination.
    let destinationOrder: String?

    /// The name of the column with an order, by the column of the keys that have it.
    static func order(by column: String, _ columns: [String]) -> String? {
        let order = "Z_FOK_" + column.dropFirst(column.hasPrefix("Z_") ? 2 : 1)
        return columns.first { $0 == order }
    }
}

/// A name as Z_13TAGS1, read for the name of a relationship.
struct NumberedName {
    /// The number of an entity, as it was when the table was made.
    let number: Int
    /// Whether a number follows.
    let hasSuffix: Bool

    /// - Parameters:
    ///   - text: the name of a table or column.
    ///   - names: those of the relationship, in capitals.
    init?(_ text: String, prefix: String, names: [String]) {
        guard text.hasPrefix(prefix) else { return nil }
        let rest = text.dropFirst(prefix.count)
        let digits = rest.prefix(while: Self.isDigit)
        guard let number = Int(digits) else { return nil }
        let name = rest.dropFirst(digits.count)
        if names.contains(where: { $0 == name }) {
            hasSuffix = false
        } else if names.contains(where: {
            name.hasPrefix($0) && name.dropFirst($0.count).allSatisfy(Self.isDigit)
        }) {
            hasSuffix = true
        } else {
            return nil
        }
        self.number = number
    }

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isNumber
    }
}
