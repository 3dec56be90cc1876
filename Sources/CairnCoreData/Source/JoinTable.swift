// The table of a relationship that no object keeps in a column of its own.
//
//   many-to-many           Z_4TASK(Z_4NOTES, Z_11TASK): named after one of the two relationships and the number of
//                          the entity that has it. A column holds the keys of those that the relationship in its
//                          name leads to, and has the number of their entity. An ordered side has Z_FOK_11TASK
//                          besides.
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
    private(set) var sourceOrder: String?
    /// The order of what leads to a destination.
    private(set) var destinationOrder: String?

    /// Finds it; nil if there is none.
    init?(
        _ pairs: Int, in schema: Schema, _ numbers: EntityNumbers, _ store: CoreDataSource,
        sourceTable: Int, destinationTable: Int, destinationName: String
    ) {
        self.pairs = pairs
        self.sourceTable = sourceTable
        self.destinationTable = destinationTable
        let description = schema.pairs[pairs]
        let forth = schema.entities[description.source].relationships[
            description.sourceRelationship]
        let back = description.destinationRelationship.map {
            schema.entities[description.destination].relationships[$0]
        }
        // The number of the entity that declares a relationship.
        let from = numbers.numbers[forth.declaringEntity] ?? 0
        let name = forth.description.name.uppercased()
        guard let back else {
            guard let columns = store.tables[destinationName],
                let column = Self.column(named: name, number: from, prefix: "Z", among: columns)
            else { return nil }
            table = destinationName
            sourceColumn = column
            destinationColumn = "Z_PK"
            let order = "Z_FOK_" + column.dropFirst()
            sourceOrder = columns.contains(order) ? order : nil
            return
        }
        let to = numbers.numbers[back.declaringEntity] ?? 0
        let other = back.description.name.uppercased()
        let isReflexive =
            back.declaringEntity == forth.declaringEntity
            && back.description.name == forth.description.name
        for candidate in store.tables.keys.sorted() {
            guard
                Self.column(named: name, number: from, prefix: "Z_", among: [candidate]) != nil
                    || Self.column(named: other, number: to, prefix: "Z_", among: [candidate])
                        != nil,
                let columns = store.tables[candidate],
                let destination = Self.column(
                    named: name, number: to, prefix: "Z_", among: columns),
                let source = isReflexive
                    ? columns.first(where: { $0 == "REFLEXIVE" })
                    : Self.column(
                        named: other, number: from, prefix: "Z_",
                        among: columns.filter { $0 != destination })
            else { continue }
            table = candidate
            sourceColumn = source
            destinationColumn = destination
            sourceOrder = Self.order(by: destination, columns)
            destinationOrder = Self.order(by: source, columns)
            return
        }
        return nil
    }

    private static func order(by column: String, _ columns: [String]) -> String? {
        let order = "Z_FOK_" + (column.hasPrefix("Z_") ? column.dropFirst(2) : column[...])
        return columns.first { $0 == order }
    }

    /// The name that consists of prefix, number and name; also with the number of another entity, if there is only
    /// one such, as numbers are those of the time when the table was made.
    private static func column(
        named name: String, number: Int, prefix: String, among names: [String]
    ) -> String? {
        if let exact = names.first(where: { $0 == "\(prefix)\(number)\(name)" }) { return exact }
        let similar = names.filter { candidate in
            guard candidate.hasPrefix(prefix), candidate.hasSuffix(name) else { return false }
            let digits = candidate.dropFirst(prefix.count).dropLast(name.count)
            return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
        }
        return similar.count == 1 ? similar[0] : nil
    }
}
