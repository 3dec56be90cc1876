// A value of another type that says the same: what archives and formats write in a type of theirs.

import FoundationEssentials

extension Value {
    /// The same as a value for an attribute of a type; nil if it is none.
    package func restated(as type: AttributeType) -> Value? {
        if fits(type) { return self }
        switch (self, type) {
        case (.integer(let number), .boolean): return .boolean(number != 0)
        case (.integer(let number), .double): return .double(Double(number))
        case (.integer(let number), .float): return .float(Float(number))
        case (.integer(let number), .decimal): return .decimal(Decimal(number))
        case (.double(let number), .float): return .float(Float(number))
        case (.double(let number), .integer16), (.double(let number), .integer32),
            (.double(let number), .integer64):
            guard let whole = Int64(exactly: number) else { return nil }
            return Value.integer(whole).fits(type) ? .integer(whole) : nil
        case (.double(let number), .decimal):
            return Decimal(exactText: number.description).map { .decimal($0) }
        case (.decimal(let number), .double): return Double("\(number)").map { .double($0) }
        case (.decimal(let number), .float): return Float("\(number)").map { .float($0) }
        case (.decimal(let number), .integer16), (.decimal(let number), .integer32),
            (.decimal(let number), .integer64):
            return Int64("\(number)").flatMap { Value.integer($0).fits(type) ? .integer($0) : nil }
        case (.string(let text), .uri): return URL(string: text).map { .uri($0) }
        case (.string(let text), .uuid): return UUID(uuidString: text).map { .uuid($0) }
        default: return nil
        }
    }
}
