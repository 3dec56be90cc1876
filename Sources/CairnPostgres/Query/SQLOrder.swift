// Sorts in the server, where its order is that of the model.
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
    /// What follows ORDER BY.
    let text: SQLText

    /// Nil if one of the keys has no SQL.
    init?(_ paths: [SortPath], _ translator: ConditionTranslator) {
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
            // Nil is the smallest, or the greatest.
            let nulls = path.isAscending == path.nilIsGreatest ? "NULLS LAST" : "NULLS FIRST"
            keys.append("\(value.text) \(raw: path.isAscending ? "ASC" : "DESC") \(raw: nulls)")
        }
        text = .joined(keys + [SQLText(raw: translator.root.id)], ", ")
    }
}
