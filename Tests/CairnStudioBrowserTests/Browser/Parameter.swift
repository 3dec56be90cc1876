// What a command of the DevTools protocol is given.

/// A value of JSON, written as literals.
enum Parameter: Encodable, Sendable {
    case text(String)
    case number(Double)
    case truth(Bool)
    case list([Parameter])
    case members([String: Parameter])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .truth(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .members(let value): try container.encode(value)
        }
    }
}

extension Parameter: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .number(Double(value)) }
    init(booleanLiteral value: Bool) { self = .truth(value) }
    init(arrayLiteral elements: Parameter...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, Parameter)...) {
        self = .members(Dictionary(elements) { _, last in last })
    }
}
