// Why nothing was ported.

/// An error after which nothing has been changed.
package struct PortError: Error, CustomStringConvertible {
    /// What is wrong, with its place.
    package let description: String

    init(_ description: String) { self.description = description }
}
