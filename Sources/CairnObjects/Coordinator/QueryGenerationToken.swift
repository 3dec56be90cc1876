// A state of a store that contexts go on reading, whatever is written meanwhile.
//
// Threads: any; it never changes.

import CairnStore

/// A state of a store that contexts can keep reading; see ``ManagedObjectContext/setQueryGeneration(from:)``.
///
/// Tokens of the same state are equal, wherever they were taken. While a token exists, the store retains what is needed
/// to read the state. A store that runs out of space can give up the oldest states; reading one of those throws
/// `StoreError` with `.snapshotExpired`.
public final class QueryGenerationToken: Sendable {
    /// The newest state at the time when a context with this token first reads.
    public static let current = QueryGenerationToken(nil)

    /// The state; nil stands for the newest one.
    let snapshot: (any StoreSnapshot)?

    init(_ snapshot: (any StoreSnapshot)?) { self.snapshot = snapshot }
}

extension QueryGenerationToken: Hashable {
    /// Whether both are one state of one store.
    public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
        guard let one = left.snapshot, let other = right.snapshot else { return left === right }
        if let one = one as? CoordinatedSnapshot, let other = other as? CoordinatedSnapshot {
            return one.isState(of: other)
        }
        return one.commit == other.commit && one.identity.identifier == other.identity.identifier
    }

    /// Hashes the identity of the state.
    public func hash(into hasher: inout Hasher) { hasher.combine(snapshot?.commit) }
}

extension QueryGenerationToken: CustomStringConvertible {
    /// The number of the state's commit.
    public var description: String { snapshot.map { "commit \($0.commit)" } ?? "current" }
}
