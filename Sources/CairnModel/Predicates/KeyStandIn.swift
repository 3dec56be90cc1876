// A placeholder for a key that could not be derived from a key path.
//
// Whoever makes a sort key or a condition of a key path cannot throw; whoever is asked with it can, and says what this says.
//
// Threads: a value.

/// A placeholder that is not a real key.
package enum KeyStandIn {
    /// Nobody writes a key that begins so.
    private static let mark = "\0key path\0"

    /// What stands for a key.
    package static func key(because problem: String) -> String { "\(mark)\(problem)" }

    /// Throws if a key is a stand-in.
    package static func check(_ key: String) throws(PredicateFormatError) {
        guard key.utf8.starts(with: mark.utf8) else { return }
        throw PredicateFormatError(String(key.dropFirst(mark.count)), key: nil)
    }
}
