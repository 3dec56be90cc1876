// The description of an access path, formatted on demand: most fetches take less time than formatting it.
//
// Threads: a value.

import CairnModel

/// How a fetch found its rows.
struct PlanName: Sendable {
    /// A condition that an index executes on one of its columns.
    enum Condition: Sendable {
        case equal(String, Value)
        case among(String, Int)
        case beginning(String, String)
        case above(String, Value, isIncluded: Bool)
        case below(String, Value, isIncluded: Bool)
        case some(String)

        var text: String {
            switch self {
            case .equal(let name, let value): "\(name) = \(value)"
            case .among(let name, let count): "\(name) in \(count) values"
            case .beginning(let name, let text): "\(name) begins with \"\(text)\""
            case .above(let name, let value, let isIncluded):
                "\(name) \(isIncluded ? ">=" : ">") \(value)"
            case .below(let name, let value, let isIncluded):
                "\(name) \(isIncluded ? "<=" : "<") \(value)"
            case .some(let name): "\(name) != nil"
            }
        }
    }

    /// One index.
    struct Index: Sendable {
        let definition: Catalog.FetchIndexDefinition
        let way: PlanOutline.Way
        let terms: [PlanTerm]
        /// The number of values in a list; nil if no list is looked up.
        let listed: Int?

        var text: String {
            let columns = definition.names.joined(separator: ", ")
            let looked = conditions.map(\.text).joined(separator: ", ")
            return "index \(definition.name) (\(columns))\(looked.isEmpty ? "" : " for \(looked)")"
        }
    }

    private enum Words: Sendable {
        case text(String)
        case indexes([Index], isOrdered: Bool)
    }

    private let words: Words
    /// Whether no row was read: the index is sufficient.
    var isCovering = false

    init(_ text: String) { words = .text(text) }

    /// - Parameter isOrdered: whether the rows come in the order of the first index.
    init(_ indexes: [Index], isOrdered: Bool) {
        words = .indexes(indexes, isOrdered: isOrdered)
    }

    var text: String {
        (isCovering ? "covering " : "") + way
    }

    private var way: String {
        switch words {
        case .text(let text): text
        case .indexes(let indexes, let isOrdered):
            indexes.map(\.text).joined(separator: " and ") + (isOrdered ? ", in its order" : "")
        }
    }
}
