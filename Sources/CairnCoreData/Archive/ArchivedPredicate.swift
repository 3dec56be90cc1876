// Predicates and expressions of an archive, as texts of the format language.
//
// What has no text (a block, a function of somebody's own) has none here either: whoever asks says so.

import CairnModel
import FoundationEssentials

/// Writes archived predicates as text.
enum ArchivedPredicate {
    /// Predicates nest; an archive may do so in a circle.
    private static let deepest = 64

    /// The text of a predicate; nil if it has none that can be read back.
    static func format(_ predicate: ArchivedObject) -> String? {
        guard let text = text(predicate, depth: 0) else { return nil }
        return (try? PredicateNode(format: text)) == nil ? nil : text
    }

    private static func text(_ predicate: ArchivedObject, depth: Int) -> String? {
        guard depth < deepest else { return nil }
        switch predicate.type {
        case "NSTruePredicate": return "TRUEPREDICATE"
        case "NSFalsePredicate": return "FALSEPREDICATE"
        case "NSCompoundPredicate":
            let parts = predicate.objects("NSSubpredicates").map { text($0, depth: depth + 1) }
            guard !parts.contains(nil) else { return nil }
            let known = parts.compactMap { $0.map { "(\($0))" } }
            switch predicate.integer("NSCompoundPredicateType") {
            case 0: return known.count == 1 ? "NOT \(known[0])" : nil
            case 1: return known.isEmpty ? "TRUEPREDICATE" : known.joined(separator: " AND ")
            case 2: return known.isEmpty ? "FALSEPREDICATE" : known.joined(separator: " OR ")
            default: return nil
            }
        case "NSComparisonPredicate": return comparison(predicate, depth: depth)
        default: return nil
        }
    }

    private static func comparison(_ predicate: ArchivedObject, depth: Int) -> String? {
        guard let left = predicate.object("NSLeftExpression"),
            let right = predicate.object("NSRightExpression"),
            let operation = predicate.object("NSPredicateOperator"),
            let word = word(operation),
            let leftText = expression(left, depth: depth + 1),
            let rightText = expression(right, depth: depth + 1)
        else { return nil }
        let modifier: String
        switch operation.integer("NSModifier") ?? 0 {
        case 0: modifier = ""
        case 1: modifier = "ALL "
        case 2: modifier = "ANY "
        default: return nil
        }
        return "\(modifier)\(leftText) \(word) \(rightText)"
    }

    /// An operator with its options.
    private static func word(_ operation: ArchivedObject) -> String? {
        let words = [
            "<", "<=", ">", ">=", "==", "!=", "MATCHES", "LIKE", "BEGINSWITH", "ENDSWITH", "IN",
        ]
        let type = operation.integer("NSOperatorType") ?? -1
        var word: String
        switch type {
        case 0...10: word = words[Int(type)]
        case 99: word = "CONTAINS"
        case 100: word = "BETWEEN"
        default: return nil
        }
        // Inequality is archived as a negated equality, under either number.
        if operation.flag("NSNegate") {
            guard type == 4 || type == 5 else { return nil }
            word = "!="
        }
        let options = operation.integer("NSOptions") ?? operation.integer("NSFlags") ?? 0
        var letters = ""
        if options & 1 != 0 { letters += "c" }
        if options & 2 != 0 { letters += "d" }
        return letters.isEmpty ? word : "\(word)[\(letters)]"
    }

    // MARK: Expressions

    /// The text of an expression; nil if it has none.
    static func expression(_ node: ArchivedObject, depth: Int = 0) -> String? {
        guard depth < deepest else { return nil }
        switch node.type {
        case "NSSelfExpression": return "SELF"
        case "NSVariableExpression": return node.text("NSVariable").map { "$\($0)" }
        case "NSKeyPathSpecifierExpression": return node.text("NSKeyPath")
        case "NSConstantValueExpression": return constant(node, "NSConstantValue")
        case "NSAggregateExpression":
            let parts = node.objects("NSCollection").map { expression($0, depth: depth + 1) }
            guard !parts.contains(nil) else { return nil }
            return "{\(parts.compactMap { $0 }.joined(separator: ", "))}"
        case "NSKeyPathExpression":
            guard let path = node.objects("NSArguments").first,
                let name = expression(path, depth: depth + 1)
            else { return nil }
            guard let operand = node.object("NSOperand"), operand.type != "NSSelfExpression" else {
                return name
            }
            return expression(operand, depth: depth + 1).map { "\($0).\(name)" }
        case "NSFunctionExpression": return function(node, depth: depth)
        default: return nil
        }
    }

    private static func function(_ node: ArchivedObject, depth: Int) -> String? {
        guard let selector = node.text("NSSelectorName") else { return nil }
        let arguments = node.objects("NSArguments").map { expression($0, depth: depth + 1) }
        guard !arguments.contains(nil) else { return nil }
        let known = arguments.compactMap { $0 }
        switch selector {
        case "now": return "now()"
        case "count:" where known.count == 1: return "\(known[0]).@count"
        case "sum:" where known.count == 1 && !known[0].contains("@"): return "\(known[0]).@sum"
        case "canonical:", "uppercase:", "lowercase:", "count:", "sum:", "min:", "max:",
            "average:", "abs:", "sqrt:", "length:":
            return known.count == 1 ? "\(selector)(\(known[0]))" : nil
        default: return nil
        }
    }

    /// A constant as text.
    private static func constant(_ node: ArchivedObject, _ key: String) -> String? {
        switch node[key] {
        case .null: return "NULL"
        case .boolean(let truth): return truth ? "YES" : "NO"
        case .integer(let number): return "\(number)"
        case .real(let number): return number.isFinite ? "\(number)" : nil
        case .text(let text): return Value.string(text).predicateFormat
        case .date(let date): return Value.date(date).predicateFormat
        default:
            if let text = node.text(key) { return Value.string(text).predicateFormat }
            return node.object(key).flatMap { ArchivedValue.value($0)?.predicateFormat }
        }
    }
}
