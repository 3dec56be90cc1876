// Queries of cairn query beyond plain objects: groups, expressions, distinct rows.

import CairnInspection
import CairnModel
import CairnStore

/// A query whose result is a table of values.
struct TableQuery {
    /// The options on the command line.
    struct Options {
        var columns: [String] = []
        var groupBy: [String] = []
        var having: String?
        var isDistinct = false
    }

    private let request: StoreTableFetch
    private let entity: SchemaEntity

    /// Returns whether the options require more than values of objects.
    static func isNeeded(_ options: Options, _ entity: SchemaEntity) -> Bool {
        !options.groupBy.isEmpty || options.having != nil || options.isDistinct
            || options.columns.contains {
                $0 != "objectID" && $0 != "entity" && entity.columnIndex(named: $0) == nil
            }
    }

    /// - Throws: `Failure` that names the option, and the position in its text if it cannot be parsed.
    init(_ options: Options, _ fetch: StoreFetch, _ entity: SchemaEntity, _ session: StoreSession)
        throws
    {
        var terms = TableTerms(columns: [])
        terms.groupBy = try options.groupBy.map {
            try TermList.expression($0, option: "--group-by")
        }
        terms.columns = try options.columns.map { try TermList.column($0, option: "--columns") }
        if terms.columns.isEmpty {
            if terms.groupBy.isEmpty {
                terms.columns = entity.columns.map { TableTerms.Column($0.name) }
            } else {
                var seen: Set<String> = []
                for key in options.groupBy where !seen.insert(key).inserted {
                    throw Failure("--group-by names \(key) twice", code: .usage)
                }
                terms.columns = zip(options.groupBy, terms.groupBy).map { .init($0, $1) }
                let name = options.groupBy.contains("count") ? "@count" : "count"
                terms.columns.append(
                    .init(name, .collection(.count, of: .evaluatedObject, path: nil)))
            }
        }
        do {
            terms.having = try options.having.map { having throws(PredicateFormatError) in
                try PredicateNode(format: having)
            }
        } catch {
            throw Failure("--having: \(error.explanation)", code: .usage)
        }
        var naming = session.naming(of: entity)
        for index in terms.columns.indices {
            terms.columns[index].expression = try naming.named(terms.columns[index].expression)
        }
        terms.groupBy = try terms.groupBy.map { try naming.named($0) }
        terms.having = try terms.having.map { try naming.named($0) }
        terms.isDistinct = options.isDistinct
        self.entity = entity
        request = StoreTableFetch(fetch, terms)
        try check(options, session.schema)
    }

    /// Throws an error about the option that does not fit the entity: if the combination fails, checks each
    /// separately.
    private func check(_ options: Options, _ schema: Schema) throws {
        guard let whole = misfit(request.terms, request.fetch.sort, schema) else { return }
        let count = ExpressionNode.collection(.count, of: .evaluatedObject, path: nil)
        for (text, key) in zip(options.groupBy, request.terms.groupBy) {
            var terms = TableTerms(columns: [.init("count", count)])
            terms.groupBy = [key]
            if let problem = misfit(terms, [], schema) {
                throw Failure("--group-by \(text): \(problem)")
            }
        }
        var terms = request.terms
        terms.having = nil
        for column in terms.columns {
            terms.columns = [column]
            if let problem = misfit(terms, [], schema) {
                throw Failure("--columns \(column.name): \(problem)")
            }
        }
        terms.columns = request.terms.columns
        if let problem = misfit(terms, [], schema) { throw Failure("--columns: \(problem)") }
        let option = misfit(request.terms, [], schema) == nil ? "--sort" : "--having"
        throw Failure("\(option): \(whole)")
    }

    private func misfit(_ terms: TableTerms, _ sort: [SortKey], _ schema: Schema) -> String? {
        do throws(PredicateFormatError) {
            _ = try TablePlan(
                terms, sort: sort, of: entity, in: schema,
                nullSemantics: request.fetch.nullSemantics)
            return nil
        } catch {
            return error.description
        }
    }

    /// Prints the table, or its query plan.
    func run(_ snapshot: any StoreSnapshot, json: Bool, explain: Bool, to console: Console) throws {
        if explain {
            let plan = try snapshot.explain(request)
            console.print(json ? JSONValue(plan).line : plan.description)
            return
        }
        let table = try snapshot.table(request)
        if json {
            for row in table.rows {
                let members = zip(table.columns, row).map {
                    JSONValue.Member(key: $0, value: JSONValue($1))
                }
                console.print(JSONValue.object(members).line)
            }
            return
        }
        var text = TextTable(
            table.columns.map(PlainText.visible),
            alignments: table.columns.indices.map { column in
                table.rows.lazy.map { $0[column] }.allSatisfy(\.isNumberOrNull) ? .right : .left
            }, widest: console.isTerminal ? 40 : 60)
        for row in table.rows { text.add(row.map(PlainText.value)) }
        for line in text.lines { console.print(line) }
        if console.isTerminal { console.print(PlainText.count(table.rows.count, "row")) }
    }
}

extension Value {
    /// Whether the value is right-aligned in a column.
    fileprivate var isNumberOrNull: Bool {
        switch self {
        case .null, .integer, .decimal, .double, .float: true
        default: false
        }
    }
}
