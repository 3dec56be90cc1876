// Parents with ten children each, for what a graph is walked along.

/// A child as a peer gives it back.
struct Child: Sendable {
    var label: String
    var amount: Int64
}

enum Family {
    static let childrenPerParent = 10

    /// The children of a parent by its number.
    static func children(of parent: Int) -> [Child] {
        (0..<childrenPerParent).map {
            Child(label: "child \(parent) of \($0)", amount: Int64(parent &* 31 &+ $0))
        }
    }
}
