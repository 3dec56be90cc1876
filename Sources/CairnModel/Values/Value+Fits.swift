// Whether an attribute of a given type can have a value.

extension Value {
    /// Whether this is a value of that type, within its range. Nil fits no type here.
    public func fits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.integer(let value), .integer16): Int16(exactly: value) != nil
        case (.integer(let value), .integer32): Int32(exactly: value) != nil
        case (.integer, .integer64): true
        case (.decimal, .decimal): true
        case (.double, .double): true
        case (.float, .float): true
        case (.string, .string): true
        case (.boolean, .boolean): true
        case (.date, .date): true
        case (.binary, .binary), (.binary, .transformable): true
        case (.uuid, .uuid): true
        case (.uri, .uri): true
        default: false
        }
    }
}
