// Which of several stores a request is about.

public import CairnStore

/// Stores that a request names; what counts of them is which they are.
struct AffectedStores: Sendable, Hashable {
    let stores: [any PersistentStore]

    static func == (left: AffectedStores, right: AffectedStores) -> Bool {
        left.stores.map(\.identity.identifier) == right.stores.map(\.identity.identifier)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(stores.map(\.identity.identifier)) }
}

extension FetchRequest {
    /// The stores to query; nil, the default, or an empty array means all. Unsaved new objects belong to the store to which
    /// they would be saved.
    ///
    /// ```swift
    /// var request = FetchRequest(entityName: "Note")
    /// request.affectedStores = [drafts]
    /// ```
    public var affectedStores: [any PersistentStore]? {
        get { terms.rarer.affectedStores?.stores }
        set {
            terms.rarer.affectedStores = newValue.flatMap {
                $0.isEmpty ? nil : AffectedStores(stores: $0)
            }
        }
    }
}
