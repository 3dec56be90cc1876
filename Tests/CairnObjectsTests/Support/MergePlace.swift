// Where a merge policy resolves conflicts.

import CairnObjects
import CairnStore

/// Who decides: the store, or the context, as policies of one's own do.
enum MergePlace: CaseIterable, Sendable {
    case store
    case context

    func policy(_ kind: MergePolicyKind) -> MergePolicy {
        self == .store ? MergePolicy(merge: kind) : Own(merge: kind)
    }

    private final class Own: MergePolicy {}
}
