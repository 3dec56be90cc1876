// A predicate's tree, as indented lines and as JSON.
//
// Every part has a kind, its own content, and named parts; both forms show the same.

import CairnInspection
import CairnModel

/// A part of a predicate, with its parts.
struct PredicateOutline {
    private let kind: String
    /// Its own content, for people and for scripts.
    private var text = ""
    private var members: [JSONValue.Member] = []
    private var parts: [(name: String, part: PredicateOutline)] = []
    /// Whether the parts are a list of the same kind, without names.
    private var isList = false

    private init(
        _ kind: String, _ text: String = "", _ members: [JSONValue.Member] = [],
        _ parts: [(String, PredicateOutline)] = [], isList: Bool = false
    ) {
        self.kind = kind
        self.text = text
        self.members = members
        self.parts = parts
        self.isList = isList
    }

    // MARK: Forms

    /// The part on one line, and its own parts indented under it.
    var lines: [String] {
        [text.isEmpty ? kind : "\(kind) \(text)"]
            + parts.flatMap { part in part.part.lines.map { "  " + $0 } }
    }

    /// The part as a JSON object.
    var json: JSONValue {
        var members = [JSONValue.Member(key: "kind", value: .string(kind))] + members
        if isList {
            members.append(.init(key: "parts", value: .array(parts.map(\.part.json))))
        } else {
            members += parts.map { .init(key: $0.name, value: $0.part.json) }
        }
        return .object(members)
    }

    private static func text(_ key: String, _ text: String) -> JSONValue.Member {
        .init(key: key, value: .string(text))
    }

    private static func list(_ kind: String, _ parts: [PredicateOutline]) -> PredicateOutline {
        PredicateOutline(kind, "", [], parts.map { ("", $0) }, isList: true)
    }

    // MARK: Predicates

    init(_ node: PredicateNode) {
        switch node {
        case .constant(let truth):
            self.init(
                truth ? "TRUEPREDICATE" : "FALSEPREDICATE", "",
                [.init(key: "value", value: .boolean(truth))])
        case .and(let parts): self = Self.list("and", parts.map { Self($0) })
        case .or(let parts): self = Self.list("or", parts.map { Self($0) })
        case .not(let part): self.init("not", "", [], [("part", Self(part))])
        case .comparison(let comparison):
            var text = comparison.operator.rawValue
            var members = [Self.text("operator", text)]
            if !comparison.options.isEmpty {
                text += "[\(comparison.options.letters)]"
                members.append(Self.text("options", comparison.options.letters))
            }
            if comparison.modifier != .direct {
                text = "\(comparison.modifier.rawValue) \(text)"
                members.append(Self.text("modifier", comparison.modifier.rawValue))
            }
            self.init(
                "comparison", text, members,
                [("left", Self(comparison.left)), ("right", Self(comparison.right))])
        }
    }

    // MARK: Expressions

    private init(_ node: ExpressionNode) {
        switch node {
        case .constant(let value): self.init(value)
        case .list(let values):
            self.init(
                "list", node.expressionFormat,
                [.init(key: "values", value: .array(values.map { Self($0).json }))])
        case .evaluatedObject: self.init("self")
        case .anyKey: self.init("anyKey")
        case .keyPath(let path):
            self.init("keyPath", node.expressionFormat, [Self.text("path", path)])
        case .variable(let name):
            self.init("variable", node.expressionFormat, [Self.text("name", name)])
        case .path(let base, let path):
            self.init("path", path, [Self.text("path", path)], [("of", Self(base))])
        case .collection(let operation, let base, let path):
            var members = [Self.text("operator", operation.rawValue)]
            if let path { members.append(Self.text("path", path)) }
            self.init(
                "collection", "@\(operation.rawValue)" + (path.map { ".\($0)" } ?? ""), members,
                [("of", Self(base))])
        case .index(let base, let index):
            switch index {
            case .first:
                self.init("index", "FIRST", [Self.text("at", "FIRST")], [("of", Self(base))])
            case .last: self.init("index", "LAST", [Self.text("at", "LAST")], [("of", Self(base))])
            case .size: self.init("index", "SIZE", [Self.text("at", "SIZE")], [("of", Self(base))])
            case .at(let place):
                self.init("index", "", [], [("of", Self(base)), ("at", Self(place))])
            }
        case .function(let function, let arguments):
            self = Self.list("function", arguments.map { Self($0) })
            text = function.rawValue
            members = [Self.text("name", function.rawValue)]
        case .call(let target, let selector, let arguments):
            self = Self.list("call", ([target] + arguments).map { Self($0) })
            text = selector
            members = [Self.text("selector", selector)]
        case .cast(let base, let type):
            self.init(
                "cast", type.rawValue, [Self.text("type", type.rawValue)], [("of", Self(base))])
        case .conditional(let test, let one, let other):
            self.init(
                "conditional", "", [],
                [("if", Self(test)), ("then", Self(one)), ("else", Self(other))])
        case .subquery(let collection, let variable, let condition):
            self.init(
                "subquery", "$\(variable)", [Self.text("variable", variable)],
                [("of", Self(collection)), ("where", Self(condition))])
        case .set(let operation, let left, let right):
            self.init(
                "set", operation.rawValue, [Self.text("operator", operation.rawValue)],
                [("left", Self(left)), ("right", Self(right))])
        case .aggregate(let members): self = Self.list("aggregate", members.map { Self($0) })
        case .assignment(let name, let base):
            self.init("assignment", "$\(name)", [Self.text("name", name)], [("of", Self(base))])
        case .fetch(let request, let context, let countsOnly):
            self.init(
                "fetch", "", [.init(key: "countsOnly", value: .boolean(countsOnly))],
                [("request", Self(request)), ("context", Self(context))])
        }
    }

    private init(_ value: Value) {
        let type =
            switch value {
            case .null: "nil"
            case .integer: "integer"
            case .decimal: "decimal"
            case .double: "double"
            case .float: "float"
            case .string: "string"
            case .boolean: "boolean"
            case .date: "date"
            case .binary: "binary"
            case .uuid: "uuid"
            case .uri: "uri"
            case .objectID: "objectID"
            }
        self.init(
            "constant", ExpressionNode.constant(value).expressionFormat,
            [Self.text("type", type), .init(key: "value", value: JSONValue(value))])
    }
}
