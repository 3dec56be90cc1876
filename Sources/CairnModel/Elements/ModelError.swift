// Errors in a model, and their locations.

/// An error in a model or a model file, with the element and, for files, the location.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of error it is. More kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        private init(_ name: String) { description = name }

        /// The file cannot be read.
        public static let unreadable = Code("unreadable")
        /// The XML is malformed.
        public static let malformed = Code("malformed")
        /// An element is incomplete, or has an invalid value.
        public static let invalidElement = Code("invalidElement")
        /// Two things have the same name.
        public static let duplicateName = Code("duplicateName")
        /// A name refers to something that the model does not contain.
        public static let unknownName = Code("unknownName")
        /// The inverse of a relationship does not point back to it.
        public static let mismatchedInverse = Code("mismatchedInverse")
        /// A uniqueness constraint or index names something that it cannot cover.
        public static let invalidConstraint = Code("invalidConstraint")
        /// An entity inherits from itself.
        public static let circularInheritance = Code("circularInheritance")
        /// A default or limit does not fit the attribute.
        public static let invalidValue = Code("invalidValue")
        /// A derived attribute cannot be computed from the properties in its expression.
        public static let invalidDerivation = Code("invalidDerivation")
        /// A mapping does not fit its source and destination models.
        public static let invalidMapping = Code("invalidMapping")
    }
    /// What kind of error it is.
    public let code: Code
    /// What is wrong, as a sentence.
    public let message: String
    /// The element with the error, for example `Product.price`.
    public let element: String?
    /// The file, if the model was read from one.
    public var file: String?
    /// The line in the file, from 1.
    public var line: Int?

    /// Creates an error about an element of a model.
    public init(
        _ code: Code, _ message: String, element: String? = nil, file: String? = nil,
        line: Int? = nil
    ) {
        self.code = code
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
