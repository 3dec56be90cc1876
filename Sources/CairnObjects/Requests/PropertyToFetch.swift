// What a dictionary result says of an object or a group.

public import CairnModel
import CairnStore
import FoundationEssentials

/// A value that a dictionary result has under a name of its own: an expression of an object's properties, or a figure of all
/// objects of a group.
///
/// ```swift
/// let count = try ExpressionDescription("count", "count:(SELF)", resultType: .integer64)
/// let total = try ExpressionDescription("total", "sum:(price * stock)")
/// ```
public struct ExpressionDescription: Sendable, Hashable {
    /// The name of the value in the results.
    public var name: String
    /// What the value is.
    public var expression: ExpressionNode
    /// The type to which the value is converted; `.undefined` does not convert it. Fractions are truncated for integers,
    /// and a value that cannot be converted is an error.
    public var resultType: AttributeType

    /// Gives an expression a name.
    public init(
        _ name: String, expression: ExpressionNode, resultType: AttributeType = .undefined
    ) {
        self.name = name
        self.expression = expression
        self.resultType = resultType
    }

    /// Gives the expression of a format a name.
    ///
    /// - Throws: `PredicateFormatError` with the place in the format.
    public init(
        _ name: String, _ format: String, resultType: AttributeType = .undefined
    ) throws(PredicateFormatError) {
        self.init(name, expression: try ExpressionNode(format: format), resultType: resultType)
    }
}

/// A property that a fetch request names: by its key path, or as an expression with a name.
///
/// ```swift
/// request.propertiesToFetch = ["email", .expression(count)]
/// ```
public enum PropertyToFetch: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The value at a key path, through to-one relationships. Its name is the key path.
    case property(String)
    /// An expression with a name.
    case expression(ExpressionDescription)

    /// The value at a key path.
    public init(stringLiteral path: String) { self = .property(path) }

    /// The name of the value in the results.
    public var name: String {
        switch self {
        case .property(let path): path
        case .expression(let description): description.name
        }
    }

    /// What the value is.
    public var expression: ExpressionNode {
        switch self {
        case .property(let path): .keyPath(path)
        case .expression(let description): description.expression
        }
    }

    var resultType: AttributeType {
        switch self {
        case .property: .undefined
        case .expression(let description): description.resultType
        }
    }
}

extension Value {
    /// The value as one of a type; nil if it cannot be made into one.
    func result(as type: AttributeType) -> Value? {
        if type == .undefined { return self }
        if let exact = converted(to: type) { return exact }
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = Value.truncated(self) else { return nil }
            return Value.integer(number).converted(to: type)
        case .double: return number.map(Value.double)
        case .float: return number.map { .float(Float($0)) }
        default: return literal(of: type)
        }
    }

    private static func truncated(_ value: Value) -> Int64? {
        switch value {
        // Its digits before the point: a double could lose some of them.
        case .decimal(let decimal): return Int64("\(decimal)".prefix { $0 != "." })
        default: return value.number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
        }
    }

    /// The nearest number of what is one.
    private var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .float(let value): Double(value)
        case .decimal(let value): value.isNaN ? nil : Double("\(value)")
        case .boolean(let value): value ? 1 : 0
        default: nil
        }
    }
}
