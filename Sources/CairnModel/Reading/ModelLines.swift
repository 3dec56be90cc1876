// The line of each element in a model file.
//
// A schema is made after the file has been read, and its errors name elements: this table turns the
// name into a line.

/// The lines of a model file by element, named as in errors: `Entity`, `Entity.property`, `Entity, uniqueness constraint
/// (a, b)`.
struct ModelLines {
    private var lines: [String: [Int]] = [:]

    /// Notes an element's line.
    mutating func note(_ element: String, _ line: Int) {
        lines[element, default: []].append(line)
    }

    /// The error with the line of its element, or of what the element lies in.
    func place(_ error: ModelError, file: String?) -> ModelError {
        var error = error
        if error.file == nil { error.file = file }
        guard error.line == nil else { return error }
        var name = error.element
        while let current = name {
            if let found = lines[current] {
                // The second of two equal names is the one too many.
                error.line = error.code == .duplicateName ? found.last : found.first
                break
            }
            name = Self.outer(current)
        }
        return error
    }

    private static func outer(_ element: String) -> String? {
        if let comma = element.firstIndex(of: ",") { return String(element[..<comma]) }
        if let dot = element.lastIndex(of: ".") { return String(element[..<dot]) }
        return nil
    }
}
