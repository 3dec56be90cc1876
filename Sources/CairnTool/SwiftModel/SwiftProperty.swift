// One property of a class or struct as it is written: what is to be said of it, its mark, and its declaration.

/// A property in Swift.
struct SwiftProperty {
    /// What is said above it.
    var remarks: [String] = []
    /// The mark, without the sign before it.
    var mark: String?
    var arguments: [String] = []
    /// As it is written in code.
    var name: String
    var type: String
    var value: String?
    /// Whether it cannot be declared, so that only the remarks stay.
    var isLeftOut = false

    /// The lines in a type.
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
