// The part of a fetch that the server executes, and the rest.
//
//   condition exact, order known    the server finds, sorts, counts and cuts: its rows are the answer
//   condition exact                 the server finds and counts; rows are sorted and cut here
//   condition a superset            the server leaves out what cannot match; the rest is done here
//
// Threads: owned by one call.

import CairnModel
import CairnStore

struct FetchQuery {
    private let evaluation: FetchEvaluation
    private let request: StoreFetch
    let translator: ConditionTranslator
    private let condition: SQLCondition
    private let order: SQLOrder?

    init(
        _ evaluation: FetchEvaluation, _ request: StoreFetch, _ layout: TableLayout,
        _ identity: StoreIdentity
    ) {
        self.evaluation = evaluation
        self.request = request
        translator = ConditionTranslator(evaluation.entity, layout, identity)
        condition = evaluation.condition.map { [translator] in translator.condition($0) } ?? .always
        // Rows that are looked at again come by number.
        order =
            condition.isExact
            ? SQLOrder(evaluation.paths, translator, isCut: request.limit != nil) : nil
    }

    /// Whether there is a condition.
    var hasCondition: Bool { evaluation.condition != nil }
    /// Whether the condition needs no second look.
    var isFiltered: Bool { condition.isExact }
    /// Whether the rows of the server are the answer, in its order.
    var isWhole: Bool { order != nil }

    /// The rows: of the answer, or such as may be in it by number.
    func rows(_ list: String) -> Statement {
        let byNumber = SQLText(raw: translator.root.id)
        let rows: SQLText =
            "SELECT \(raw: list) \(found) ORDER BY \(order?.text ?? byNumber)"
        return Statement(of: order == nil ? rows : "\(rows)\(cut)")
    }

    /// How many rows there are, if that needs no second look.
    var count: Statement {
        guard let limit = request.limit, limit < .max else {
            return Statement(of: "SELECT count(*) \(found)")
        }
        // The server need not find more than that.
        return Statement(of: "SELECT count(*) FROM (SELECT 1 \(found)\(cut)) AS f")
    }

    /// How many of the rows that were counted are the answer.
    func rest(of count: Int) -> Int {
        request.limit.map { $0 < .max } == true ? count : max(0, count - request.offset)
    }

    /// FROM and WHERE.
    var found: SQLText {
        let family =
            request.includesSubentities ? evaluation.entity.family : [evaluation.entity.index]
        let entities = translator.isOf(family, ConditionTranslator.rootName)
        let parts = [entities, evaluation.condition == nil ? nil : condition.text]
            .compactMap(\.self)
        return translator.root.scope.sql(parts.isEmpty ? nil : .joined(parts, " AND "))
    }

    private var cut: SQLText { Self.cut(request) }

    /// The limit and the offset of a request.
    static func cut(_ request: StoreFetch) -> SQLText {
        var cut: SQLText = ""
        if let limit = request.limit, limit < .max {
            cut = "\(cut) LIMIT \(.int64(Int64(max(0, limit))), as: "bigint")"
        }
        if request.offset > 0 {
            cut = "\(cut) OFFSET \(.int64(Int64(request.offset)), as: "bigint")"
        }
        return cut
    }

    /// In words, what is done where.
    var plan: String {
        let all = evaluation.condition == nil
        if isWhole {
            let parts =
                (all ? [] : ["condition"]) + (evaluation.paths.isEmpty ? [] : ["order"])
                + (request.limit == nil && request.offset == 0 ? [] : ["limit"])
            return parts.isEmpty
                ? "all objects of the table" : "in the server: \(parts.joined(separator: ", "))"
        }
        if isFiltered {
            return all
                ? "all objects of the table; sorted here"
                : "in the server: condition; sorted here"
        }
        return condition.text == nil
            ? "all objects of the table; filtered here"
            : "in the server: part of the condition; filtered here"
    }
}
