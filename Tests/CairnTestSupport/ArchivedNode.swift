// Expressions and predicates as Foundation archives them; `ArchivedTree` says where its keys are known from.

/// An expression to be archived.
package indirect enum ArchivedNode: Sendable {
    case itself
    case variable(String)
    /// A key path, from the object itself or from another expression.
    case path(String, of: ArchivedNode = .itself)
    case constant(ListNode)
    case list([ArchivedNode])
    /// `FUNCTION(target, 'selector', …)`.
    case call(ArchivedNode, String, [ArchivedNode])
    /// A function of the format language.
    case function(String, [ArchivedNode])
    case ternary(ArchivedCondition, ArchivedNode, ArchivedNode)
    case subquery(ArchivedNode, String, ArchivedCondition)
    /// 5: union, 6: intersection, 7: difference.
    case set(Int64, ArchivedNode, ArchivedNode)
    /// Anything else.
    case other(String, [(String, ListNode)] = [])

    /// The new objects that a mapping has made of old ones.
    package static func destinations(_ mapping: String, _ objects: ArchivedNode) -> ArchivedNode {
        .call(
            .variable("manager"), "destinationInstancesForEntityMappingNamed:sourceInstances:",
            [.constant(.text(mapping)), objects])
    }

    /// A property of the old object.
    package static func source(_ path: String) -> ArchivedNode {
        .path(path, of: .variable("source"))
    }

    /// The bytes of the archive.
    package var archive: [UInt8] {
        var writer = ArchiveWriter()
        let root = add(to: &writer)
        return writer.bytes(of: root)
    }

    /// Adds the expression to an archive, and gives what names it.
    package func add(to writer: inout ArchiveWriter) -> ListNode {
        func type(_ number: Int64) -> (String, ListNode) { ("NSExpressionType", .integer(number)) }
        switch self {
        case .itself: return writer.object("NSSelfExpression", [type(1)])
        case .variable(let name):
            let text = writer.text(name)
            return writer.object("NSVariableExpression", [type(2), ("NSVariable", text)])
        case .path(let path, let base):
            let operand = base.add(to: &writer)
            let text = writer.text(path)
            let specifier = writer.object(
                "NSKeyPathSpecifierExpression", [type(10), ("NSKeyPath", text)])
            let arguments = writer.object("NSMutableArray", [("NS.objects", .array([specifier]))])
            let selector = writer.text("valueForKeyPath:")
            return writer.object(
                "NSKeyPathExpression",
                [
                    type(4), ("NSOperand", operand), ("NSSelectorName", selector),
                    ("NSArguments", arguments),
                ])
        case .constant(let value):
            var value = value
            if case .text(let text) = value { value = writer.text(text) }
            if case .null = value { value = .reference(0) }
            return writer.object(
                "NSConstantValueExpression", [type(0), ("NSConstantValue", value)])
        case .list(let members):
            let nodes = members.map { $0.add(to: &writer) }
            let list = writer.array(nodes)
            return writer.object("NSAggregateExpression", [type(14), ("NSCollection", list)])
        case .call(let target, let selector, let arguments):
            let operand = target.add(to: &writer)
            return Self.add(selector, operand, arguments, to: &writer)
        case .function(let selector, let arguments):
            let name = writer.text("_NSPredicateUtilities")
            let operand = writer.object(
                "NSConstantValueExpression", [type(0), ("NSConstantValueClassName", name)])
            return Self.add(selector, operand, arguments, to: &writer)
        case .ternary(let condition, let one, let other):
            let test = condition.add(to: &writer)
            let (first, second) = (one.add(to: &writer), other.add(to: &writer))
            return writer.object(
                "NSTernaryExpression",
                [
                    type(20), ("NSPredicate", test), ("NSTrueExpression", first),
                    ("NSFalseExpression", second),
                ])
        case .subquery(let collection, let variable, let condition):
            let members = collection.add(to: &writer)
            let name = writer.text(variable)
            let test = condition.add(to: &writer)
            return writer.object(
                "NSSubqueryExpression",
                [
                    type(13), ("NSExpression", members), ("NSVariable", name),
                    ("NSSubpredicate", test),
                ])
        case .set(let kind, let left, let right):
            let (one, other) = (left.add(to: &writer), right.add(to: &writer))
            return writer.object(
                "NSSetExpression",
                [type(kind), ("NSLeftExpression", one), ("NSRightExpression", other)])
        case .other(let name, let members): return writer.object(name, members)
        }
    }

    private static func add(
        _ selector: String, _ operand: ListNode, _ arguments: [ArchivedNode],
        to writer: inout ArchiveWriter
    ) -> ListNode {
        let nodes = arguments.map { $0.add(to: &writer) }
        let list = writer.array(nodes)
        let name = writer.text(selector)
        return writer.object(
            "NSFunctionExpression",
            [
                ("NSExpressionType", .integer(4)), ("NSOperand", operand),
                ("NSSelectorName", name), ("NSArguments", list),
            ])
    }
}

/// A predicate to be archived.
package indirect enum ArchivedCondition: Sendable {
    case always(Bool)
    /// Two expressions compared by the number of an operator.
    case compared(ArchivedNode, Int64, ArchivedNode, modifier: Int64 = 0, options: Int64 = 0)
    /// 0: not, 1: and, 2: or.
    case compound(Int64, [ArchivedCondition])
    /// Anything else.
    case other(String)

    /// The bytes of the archive.
    package var archive: [UInt8] {
        var writer = ArchiveWriter()
        let root = add(to: &writer)
        return writer.bytes(of: root)
    }

    /// Adds the predicate to an archive, and gives what names it.
    package func add(to writer: inout ArchiveWriter) -> ListNode {
        switch self {
        case .always(let truth):
            return writer.object(truth ? "NSTruePredicate" : "NSFalsePredicate", [])
        case .compared(let left, let number, let right, let modifier, let options):
            let (one, other) = (left.add(to: &writer), right.add(to: &writer))
            var members: [(String, ListNode)] = [
                ("NSModifier", .integer(modifier)), ("NSOperatorType", .integer(number)),
                ("NSOptions", .integer(options)),
            ]
            let isEquality = number == 4 || number == 5
            if isEquality { members.append(("NSNegate", .boolean(number == 5))) }
            let operation = writer.object(
                isEquality ? "NSEqualityPredicateOperator" : "NSComparisonPredicateOperator",
                members)
            return writer.object(
                "NSComparisonPredicate",
                [
                    ("NSLeftExpression", one), ("NSRightExpression", other),
                    ("NSPredicateOperator", operation),
                ])
        case .compound(let kind, let parts):
            let nodes = parts.map { $0.add(to: &writer) }
            let list = writer.array(nodes)
            return writer.object(
                "NSCompoundPredicate",
                [("NSCompoundPredicateType", .integer(kind)), ("NSSubpredicates", list)])
        case .other(let name): return writer.object(name, [])
        }
    }
}
