// Sorting on the server, if its order is the same as the model's.
//
//   nil         where the key says: NULLS FIRST or NULLS LAST, which is said each time, as servers differ in what is usual
//   texts       by their bytes, as their columns are declared
//   numbers     by size, and what is none last
//   references  by number
//   ties        by number
//
// Other ways to compare texts are made of tables that no server has.
//
// Threads: plain values.

import CairnModel

struct SQLOrder {
    /// The text after ORDER BY.
    let text: SQLText

    /// Nil if one of the keys has no SQL.
    ///
    /// - Parameter isCut: whether only the first rows are wanted: an index that has the beginnings of texts is of use then.
    init?(_ paths: [SortPath], _ translator: ConditionTranslator, isCut: Bool) {
        var keys: [SQLText] = []
        for path in paths {
            guard path.comparison == .binary else { return nil }
            var place = translator.root
            for step in path.steps {
                guard let target = translator.target(step.column, of: place, step.destination)
                else {
                    return nil
                }
                place = target
            }
            guard let value = translator.value(path.column, of: place) else { return nil }
            func key(_ text: SQLText) -> SQLText {
                Self.term(text, path.isAscending, nilIsGreatest: path.nilIsGreatest)
            }
            if isCut, keys.isEmpty, let beginning = value.beginning { keys.append(key(beginning)) }
            keys.append(key(value.text))
        }
        text = .joined(keys + [SQLText(raw: translator.root.id)], ", ")
    }

    /// One term of an order.
    ///
    /// - Parameter nilIsGreatest: whether nil is the greatest, and not the smallest.
    static func term(_ text: SQLText, _ isAscending: Bool, nilIsGreatest: Bool) -> SQLText {
        let nulls = isAscending == nilIsGreatest ? "NULLS LAST" : "NULLS FIRST"
        return "\(text) \(raw: isAscending ? "ASC" : "DESC") \(raw: nulls)"
    }
}
