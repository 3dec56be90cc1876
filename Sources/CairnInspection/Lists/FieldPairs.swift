// What a command line says of fields, by their names: `name=value,…`.
//
//   1. A name ends at the last `=` of its pair, so it may have others in it.
//   2. A comma without an `=` before it is one of the name: `Last, first=` is a pair.

/// Texts by the names of fields or attributes.
package struct FieldPairs: Sendable, Equatable {
    /// What is wrong with the text of a pair.
    package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        /// The option that gave the text.
        let option: String
        let message: String

        package var description: String { "\(option): \(message)" }
    }

    /// The option that gives the pairs.
    private let option: String
    private var values: [String: String] = [:]

    /// No pairs.
    init(option: String) {
        self.option = option
    }

    /// Reads pairs, several in a text with commas between them.
    ///
    /// - Parameter form: how a pair is written, for errors.
    /// - Throws: `Problem` if there is no `=`, nothing before it, or a name is there twice.
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

    /// What is wrong with a pair.
    func problem(_ message: String) -> Problem { Problem(option: option, message: message) }

    var isEmpty: Bool { values.isEmpty }

    /// The names, in order.
    var names: [String] { values.keys.sorted() }

    /// What a name has; nil if it is not among them.
    subscript(name: String) -> String? { values[name] }

    /// The same pairs for the fields of a form: in GeoJSON `properties.code` and `code` are one field.
    ///
    /// - Throws: `ListError` if both names of a field are there.
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
