// Options for fields on a command line, by field name: `name=value,…`.
//
//   1. A name ends at the last `=` of its pair, so it may contain others.
//   2. A comma without an `=` before it belongs to the name: `Last, first=` is one pair.

/// Strings by the names of fields or attributes.
package struct FieldPairs: Sendable, Equatable {
    /// An error in a pair.
    package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        /// The option that contains the pair.
        let option: String
        let message: String

        package var description: String { "\(option): \(message)" }
    }

    /// The option that contains the pairs.
    private let option: String
    private var values: [String: String] = [:]

    /// Creates an empty set of pairs.
    init(option: String) {
        self.option = option
    }

    /// Parses pairs; a string may contain several, separated by commas.
    ///
    /// - Parameter form: the syntax of a pair, for errors.
    /// - Throws: `Problem` if there is no `=`, nothing before it, or a name occurs twice.
    init(_ texts: [String], option: String, form: String) throws(Problem) {
        self.option = option
        for text in texts {
            var rest = ""
            for part in text.split(separator: ",") {
                let pair = rest.isEmpty ? String(part) : "\(rest),\(part)"
                guard let equals = pair.lastIndex(of: "=") else {
                    rest = pair
                    continue
                }
                rest = ""
                let name = String(pair[..<equals])
                guard !name.isEmpty else { throw problem("“\(pair)” has no name: write \(form)") }
                let value = String(pair[pair.index(after: equals)...])
                guard values.updateValue(value, forKey: name) == nil else {
                    throw problem("\(name) occurs twice")
                }
            }
            guard rest.isEmpty else { throw problem("“\(rest)” has no =: write \(form)") }
        }
    }

    /// Returns an error for these pairs.
    func problem(_ message: String) -> Problem { Problem(option: option, message: message) }

    var isEmpty: Bool { values.isEmpty }

    /// The names, sorted.
    var names: [String] { values.keys.sorted() }

    /// The value of a name; nil if there is none.
    subscript(name: String) -> String? { values[name] }

    /// Returns the same pairs for the fields of a form: in GeoJSON `properties.code` and `code` are one
    /// field.
    ///
    /// - Throws: `ListError` if both names of a field occur.
    func resolved(for form: ListForm) throws(ListError) -> FieldPairs {
        guard form.isFeatures else { return self }
        var pairs = FieldPairs(option: option)
        for (name, value) in values {
            let field = FieldMapping.withoutPropertiesPrefix(name)
            guard pairs.values.updateValue(value, forKey: field) == nil else {
                throw ListError("\(option) mentions a field twice: \(field) is properties.\(field)")
            }
        }
        return pairs
    }
}
