// The fields of a list, numbered in order of first occurrence.
//
//   1. Records nearly always name their fields in the same order, so the field that followed last time is
//      tried first; otherwise the name is looked up.
//   2. A new field is passed to the plan, which decides how its values are used.
//   3. Each field remembers the last record that contains it: a second occurrence in one record is an error.
//
// Threads: one reader.

/// The use of a field's values.
package enum FieldUse: Sendable {
    /// They are cells.
    case value
    /// They are objects whose members are separate fields, with dotted names.
    case parts
    /// They are ignored.
    case dropped
}

/// Decides how the fields of a list are used.
package protocol FieldPlan: AnyObject {
    /// Returns the use of a field; called once per field on first occurrence, in the order of their indexes.
    func use(of field: FieldTable.Field) -> FieldUse
}

/// The fields of a list.
package final class FieldTable {
    /// One field.
    package struct Field {
        /// Its number in the table.
        package let index: Int
        /// Its name, with dots if it is a part of another one.
        package let name: String
        /// The last part of the name.
        package let key: String
        /// The field that this one is a part of; nil if there is none.
        package let parent: Int?
    }

    package private(set) var fields: [Field] = []
    package private(set) var uses: [FieldUse] = []
    private let plan: any FieldPlan
    private var keys: [[UInt8]] = []
    /// By field: the last record that contains it.
    private var lastRecords: [Int] = []
    /// By field: the field that followed it last time, in the same object.
    private var followers: [Int] = []
    /// By field plus 1, 0 for the record itself: the first field of the object last time.
    private var firsts = [-1]
    /// By field plus 1: the fields of the object, by key.
    private var members: [[[UInt8]: Int]] = [[:]]

    package init(plan: any FieldPlan) {
        self.plan = plan
    }

    /// Returns the index of the field with a key in an object; `previous` is the field before it there.
    package func index(_ key: [UInt8], parent: Int?, after previous: Int?) -> Int {
        let group = parent.map { $0 + 1 } ?? 0
        let guess = previous.map { followers[$0] } ?? firsts[group]
        if guess >= 0, keys[guess] == key { return guess }
        let index = members[group][key] ?? add(key, parent: parent)
        if let previous { followers[previous] = index } else { firsts[group] = index }
        return index
    }

    /// Records that a field is in a record; returns false if it already was.
    package func enter(_ field: Int, record: Int) -> Bool {
        guard lastRecords[field] != record else { return false }
        lastRecords[field] = record
        return true
    }

    private func add(_ key: [UInt8], parent: Int?) -> Int {
        let index = fields.count
        let text = String(decoding: key, as: UTF8.self)
        let name = parent.map { "\(fields[$0].name).\(text)" } ?? text
        let field = Field(index: index, name: name, key: text, parent: parent)
        fields.append(field)
        keys.append(key)
        lastRecords.append(0)
        followers.append(-1)
        firsts.append(-1)
        members.append([:])
        members[parent.map { $0 + 1 } ?? 0][key] = index
        uses.append(plan.use(of: field))
        return index
    }
}
