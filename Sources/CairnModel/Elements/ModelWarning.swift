// Problems in a model file that do not make it unusable.

/// Something in a model file that a person should know about, although the model can be used.
public struct ModelWarning: Sendable, Hashable, CustomStringConvertible {
    /// The warning, as a sentence.
    public let message: String
    /// The element, for example `Product.price`.
    public let element: String?
    /// The file or folder.
    public let file: String?
    /// The line in the file, from 1.
    public let line: Int?

    init(_ message: String, element: String? = nil, file: String?, line: Int? = nil) {
        self.message = message
        self.element = element
        self.file = file
        self.line = line
    }

    /// File, line, element and message on one line.
    public var description: String {
        var text = ""
        if let file { text += "\(file):" }
        if let line { text += "\(line):" }
        if !text.isEmpty { text += " " }
        if let element { text += "\(element): " }
        return text + message
    }
}
