// One property of a class or struct in code: its remarks, its mark, and its declaration.

/// A property in Swift.
struct SwiftProperty {
    /// The comments above it.
    var remarks: [String] = []
    /// The mark, without the @ sign.
    var mark: String?
    var arguments: [String] = []
    /// The name in code.
    var name: String
    var type: String
    var value: String?
    /// Whether it cannot be declared, so that only the remarks remain.
    var isLeftOut = false

    /// Returns the lines of the property in a type.
    func lines(isPublic: Bool) -> [String] {
        let comments = remarks.flatMap { SwiftText.comment($0, indent: 4) }
        if isLeftOut { return comments }
        let access = isPublic ? "public " : ""
        let declaration = "\(access)var \(name): \(type)" + (value.map { " = \($0)" } ?? "")
        guard let mark else { return comments + ["    " + declaration] }
        guard !arguments.isEmpty else { return comments + ["    @\(mark) \(declaration)"] }
        let whole = SwiftText.call(
            "@\(mark)", arguments, tail: " " + declaration, indent: 4)
        if whole.count == 1 { return comments + whole }
        return comments + SwiftText.call("@\(mark)", arguments, indent: 4) + ["    " + declaration]
    }
}
