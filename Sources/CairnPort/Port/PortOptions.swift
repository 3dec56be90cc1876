// What is asked of a port.

/// How a tree is ported.
package struct PortOptions: Sendable {
    /// Whether the result has to compile on Apple's platforms as well.
    package var buildsOnApple = true
    /// Where classes generated from models go; nil: beside the model.
    package var generatedClasses: String?

    /// What is done unless something else is asked for.
    package init() {}
}
