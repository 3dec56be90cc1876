// Texts of predicates become trees, or errors that point at the place.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Reading predicates")
struct PredicateParserTests {
    private static func number(_ text: String) -> Value {
        Decimal(string: text).map { .decimal($0) } ?? .null
    }

    @Test(
        "A comparison is read with every spelling of its operator",
        arguments: [
            ("a = 1", "a", PredicateNode.Comparison.Operator.equal), ("a == 1", "a", .equal),
            ("a != 1", "a", .notEqual), ("a <> 1", "a", .notEqual), ("a < 1", "a", .less),
            ("a <= 1", "a", .lessOrEqual), ("a =< 1", "a", .lessOrEqual), ("a > 1", "a", .greater),
            ("a >= 1", "a", .greaterOrEqual), ("a => 1", "a", .greaterOrEqual),
            ("a<1", "a", .less), ("a.b.c == 1", "a.b.c", .equal), ("#in > 1", "in", .greater),
            ("#'first name' > 1", "first name", .greater), ("a.#or.b < 1", "a.or.b", .less),
            ("size < 1", "size", .less), ("SELF.a < 1", "a", .less), ("größe < 1", "größe", .less),
            ("#objectID == 1", "objectID", .equal),
        ])
    func operators(
        _ format: String, key: String, relation: PredicateNode.Comparison.Operator
    ) throws {
        let expected = PredicateNode.compare(key, relation, .integer(1))
        #expect(try PredicateNode(format: format) == expected)
    }

    @Test(
        "A literal is read as the value that it is",
        arguments: [
            ("5", Value.integer(5)), ("-5", .integer(-5)), ("5.0", number("5")),
            ("0.1", number("0.1")), (".5", number("0.5")), ("-.5", number("-0.5")),
            ("1e3", number("1000")), ("1E-2", number("0.01")), ("0x1F", .integer(31)),
            ("-0x10", .integer(-16)), ("0b101", .integer(5)), ("0o17", .integer(15)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", number("9223372036854775808")),
            (
                "12345678901234567890.12345678901234567",
                number("12345678901234567890.12345678901234567")
            ),
            ("1e300", .double(1e300)), ("1e-400", number("0")), ("-1e-400", .double(-0.0)),
            ("99999999999999999999999999999999999999999", number("1e41")), ("-0.0", .double(-0.0)),
            ("0.0", number("0")),
            ("'text'", .string("text")), ("\"text\"", .string("text")), ("''", .string("")),
            ("'it\\'s'", .string("it's")), ("'a\\\\b\\n\\t\\u0041'", .string("a\\b\n\tA")),
            ("'%@'", .string("%@")), ("'\u{301}a'", .string("\u{301}a")),
            ("TRUE", .boolean(true)), ("yes", .boolean(true)), ("False", .boolean(false)),
            ("NO", .boolean(false)), ("NULL", .null), ("nil", .null),
        ])
    func literals(_ text: String, value: Value) throws {
        #expect(try PredicateNode(format: "a == \(text)") == .compare("a", .equal, value))
        #expect(
            try PredicateNode(format: "\(text)==a")
                == .compare(.constant(value), .equal, .keyPath("a")))
    }

    private static let a = PredicateNode.compare("a", .equal, .integer(1))
    private static let b = PredicateNode.compare("b", .equal, .integer(2))
    private static let c = PredicateNode.compare("c", .equal, .integer(3))

    @Test(
        "NOT binds tighter than AND, and AND tighter than OR",
        arguments: [
            ("a = 1 AND b = 2", PredicateNode.and([a, b])), ("a = 1 && b = 2", .and([a, b])),
            ("a = 1 or b = 2", .or([a, b])), ("a = 1 || b = 2", .or([a, b])),
            ("a = 1 OR b = 2 AND c = 3", .or([a, .and([b, c])])),
            ("a = 1 AND b = 2 OR c = 3", .or([.and([a, b]), c])),
            ("(a = 1 OR b = 2) AND c = 3", .and([.or([a, b]), c])),
            ("a = 1 AND b = 2 AND c = 3", .and([a, b, c])),
            ("(a = 1 AND b = 2) AND c = 3", .and([.and([a, b]), c])),
            ("NOT a = 1 AND b = 2", .and([.not(a), b])), ("!a = 1", .not(a)),
            ("NOT (a = 1 AND b = 2)", .not(.and([a, b]))), ("!(a = 1)", .not(a)),
            ("NOT NOT a = 1", .not(.not(a))), ("((a = 1))", a),
            ("TRUEPREDICATE", .constant(true)),
            ("falsepredicate OR a = 1", .or([.constant(false), a])),
            ("NOT TRUEPREDICATE", .not(.constant(true))),
        ])
    func logic(_ format: String, tree: PredicateNode) throws {
        #expect(try PredicateNode(format: format) == tree)
    }

    @Test(
        "IN and BETWEEN take a list",
        arguments: [
            ("a IN {1, 2}", PredicateNode.Comparison.Operator.in, [Value.integer(1), .integer(2)]),
            ("a in (1, 2)", .in, [.integer(1), .integer(2)]), ("a IN {}", .in, []),
            ("a IN {'x'}", .in, [.string("x")]),
            ("a BETWEEN {1, 2}", .between, [.integer(1), .integer(2)]),
            ("a between (-1, NULL)", .between, [.integer(-1), .null]),
        ])
    func lists(
        _ format: String, relation: PredicateNode.Comparison.Operator, values: [Value]
    ) throws {
        let expected = PredicateNode.Comparison(.key("a"), relation, values)
        #expect(try PredicateNode(format: format) == .comparison(expected))
    }

    @Test("NOT IN is the negation of IN")
    func notIn() throws {
        let inner = PredicateNode.Comparison(.key("a"), .in, [.integer(1)])
        #expect(try PredicateNode(format: "a NOT IN {1}") == .not(.comparison(inner)))
    }

    @Test(
        "Two values are compared when the predicate is bound",
        arguments: [
            ("1 == 1", true), ("true == true", true), ("1 = 1.0", true), ("1 < 2", true),
            ("'a' > 'b'", false), ("nil == nil", true), ("nil != 1", true), ("nil < 1", false),
            ("'a' == 1", false), ("'a' != 1", true), ("TRUE != FALSE", true),
        ])
    func constants(_ format: String, truth: Bool) throws {
        let schema = try Schema(ManagedObjectModel(entities: [EntityDescription("A")]))
        let node = try PredicateNode(format: format)
        #expect(try node.bound(to: schema.entities[0]) == .constant(truth))
        #expect(try node.bound(to: schema.entities[0], in: schema) == .constant(truth))
    }

    @Test("A value on the left side stays there, and the simple form turns the comparison round")
    func leftSide() throws {
        guard case .comparison(let comparison) = try PredicateNode(format: "1 >= a") else {
            Issue.record("no comparison")
            return
        }
        #expect(comparison.left == .constant(.integer(1)))
        let simple = try #require(comparison.simple)
        #expect(simple.subject == .key("a") && simple.operator == .lessOrEqual)
        #expect(simple.values == [.integer(1)])
    }

    @Test("SELF and objectID are the object's id")
    func objectID() throws {
        let id = ObjectID(store: UUID(), hierarchy: 2, reference: 7)
        let text = id.uriRepresentation.absoluteString
        #expect(
            try PredicateNode(format: "SELF == '\(text)'")
                == .comparison(.init(.objectID, .equal, [.string(text)])))
        #expect(
            try PredicateNode(format: "objectID IN {%@}", [.objectID(id)])
                == .comparison(.init(.objectID, .in, [.objectID(id)])))
        #expect(
            try PredicateNode(format: "%@ == self.objectID", [.objectID(id)])
                == .compare(.constant(.objectID(id)), .equal, .evaluatedObject))
    }

    @Test("Placeholders are filled in their order")
    func placeholders() throws {
        let node = try PredicateNode(
            format: "%K == %@ AND %K.c > %ld AND d < %f AND e == %s AND f == %d",
            [
                .string("a"), .null, .string("b"), .integer(4), .double(0.5), .string("s"),
                .integer(1),
            ])
        #expect(
            node
                == .and([
                    .compare("a", .equal, .null), .compare("b.c", .greater, .integer(4)),
                    .compare("d", .less, .double(0.5)), .compare("e", .equal, .string("s")),
                    .compare("f", .equal, .integer(1)),
                ]))
        let list = try PredicateNode(
            format: "a IN %@ AND b BETWEEN %@ AND c IN (%@)",
            arguments: [
                .list([.integer(1), .integer(2)]), .list([.integer(3), .integer(4)]),
                .list([.string("x")]),
            ])
        #expect(
            list
                == .and([
                    .comparison(.init(.key("a"), .in, [.integer(1), .integer(2)])),
                    .comparison(.init(.key("b"), .between, [.integer(3), .integer(4)])),
                    .comparison(.init(.key("c"), .in, [.string("x")])),
                ]))
    }

    @Test(
        "An error points at the character",
        arguments: [
            ("", 0, "empty"), ("   ", 3, "empty"), ("a", 1, "operator"),
            ("a ==", 4, "reached the end"),
            ("a == 1 b == 2", 7, "AND, OR"), ("(a == 1", 7, "closing parenthesis"),
            ("a == 1)", 6, "AND, OR"), ("a == 'x", 5, "not closed"),
            ("a == 12x", 5, "followed directly"),
            ("a == 1e400", 5, "out of the range"), ("a ? 1", 2, "unexpected character"),
            ("a == %@", 5, "no argument"),
            ("a == %y", 5, "placeholder"), ("a == '\\q'", 6, "unknown escape"),
            ("a IN 5", 5, "a list"), ("a BETWEEN {1}", 10, "two values"),
            ("a BETWEEN 5", 10, "a list"), ("a IN {1, 2", 10, "closing }"),
            ("in == 1", 0, "reserved"),
            ("a == AND", 5, "reserved"), ("a NOT == 1", 6, "NOT can only"),
            ("é\u{301}'", 1, "not closed"), ("a SOUNDSLIKE 'x'", 2, "not an operator"),
            ("# == 1", 0, "no key"), ("a. == 1", 3, "expected a property's name"),
            ("a ==[x] 'b'", 5, "not an option"), ("a ==[c 'b'", 7, "closing ]"),
            ("a ==[] 'b'", 5, "an option"), ("ANY a", 5, "operator"), ("ANY", 3, "property"),
            ("a.@average.b == 1", 3, "not a collection operator"), ("a[0 == 1", 4, "closing ]"),
            ("a.$b == 1", 2, "%K"), ("a === 1", 4, "property"), ("a * 25", 6, "operator"),
            ("(a + 1) AND b == 2", 8, "operator"), ("a == (b == c)", 5, "found a predicate"),
            ("nothing(a) == 1", 0, "unknown function"),
            ("uppercase:(a, b) == 'A'", 0, "1 argument"),
            ("add:to:(a) == 1", 0, "2 arguments"), ("add:to == 1", 7, "opening parenthesis"),
            ("CAST(a, 'NSThing') == 1", 8, "does not support the type"),
            ("CAST(a) == 1", 6, "comma"),
            ("CAST('x', 'NSDate') == a", 5, "not a valid NSDate"),
            ("CAST(a, b) == 1", 8, "name of a type"),
            ("TERNARY(a, 1, 2) == 1", 9, "operator"), ("TERNARY(a == 1, 1) == 1", 17, "comma"),
            ("SUBQUERY(a, x, b == 1).@count > 0", 12, "variable"),
            ("SUBQUERY(a, $x, b).@count > 0", 17, "operator"), ("a == $", 6, "name of a variable"),
            ("a %% 2 == 1", 2, "percent"), ("a TOKENMATCHES 'x'", 2, "not supported"),
            ("a UTI-CONFORMS-TO 'x'", 2, "operator UTI-CONFORMS-TO is not supported"),
            ("a uti-equals 'x'", 2, "operator UTI-EQUALS is not supported"),
            ("a UTI - 1", 2, "operator UTI is not supported"),
            ("@K == YES", 1, "collection operator"),
            ("a == FUNCTION(b, c)", 17, "quotation marks"), ("FETCH(a, b, 1) == c", 12, "TRUE"),
            ("a IN {1,}", 8, "property or a value"), ("a IN (1", 7, "closing parenthesis"),
            ("(a == 1 OR", 10, "property or a value"), ("(a", 2, "closing parenthesis"),
        ])
    func errors(_ format: String, offset: Int, text: String) throws {
        let error = try #require(throws: PredicateFormatError.self) {
            _ = try PredicateNode(format: format)
        }
        #expect(error.offset == offset)
        #expect(error.format == format)
        #expect(error.message.contains(text), "\(error)")
    }

    @Test("Arguments that do not fit their placeholders are errors")
    func wrongArguments() {
        for (format, argument, offset) in [
            ("a == %d", Value.string("1"), 5), ("a == %f", .string("1"), 5),
            ("a == %s", .integer(1), 5), ("%K == 1", .integer(1), 0), ("%K == 1", .string(""), 0),
        ] {
            let error = #expect(throws: PredicateFormatError.self) {
                _ = try PredicateNode(format: format, [argument])
            }
            #expect(error?.offset == offset)
        }
        let many = #expect(throws: PredicateFormatError.self) {
            _ = try PredicateNode(format: "a == 1", [.null])
        }
        #expect(many?.offset == 6)
    }

    @Test(
        "Nesting without end is refused and does not fill the stack",
        arguments: [
            "(", "NOT ", "!", "a IN {", "{", "a[", "-", "~", "a + (", "1 + ", "a ** ", "$x := ",
            "abs:(", "CAST(", "TERNARY(a == ", "SUBQUERY(a, $x, ", "a UNION ", "a.@count.@sum",
            "a == 1 AND (", "ANY (", "a IN ((", "a[0][0]",
        ])
    func deep(_ piece: String) {
        let format =
            switch piece {
            case "a IN {": "a IN " + String(repeating: "{", count: 20_000)
            case "a[0][0]": "a" + String(repeating: "[0]", count: 5000)
            case "a.@count.@sum": "a" + String(repeating: ".@count", count: 5000)
            case "(", "NOT ", "!", "{": String(repeating: piece, count: 20_000)
            default: String(repeating: piece, count: 2000)
            }
        let error = #expect(throws: PredicateFormatError.self) {
            _ = try PredicateNode(format: format)
        }
        #expect(error?.message.contains("nested") == true)
    }

    @Test("The explanation shows the place under the text")
    func explanation() {
        let error = #expect(throws: PredicateFormatError.self) {
            _ = try PredicateNode(format: "a ~ 1")
        }
        #expect(error?.explanation.hasSuffix("\n  a ~ 1\n    ^") == true)
        #expect(error?.description.hasPrefix("character 3: ") == true)
    }
}
