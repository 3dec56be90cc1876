// What a commit of this process has changed, for those who observe the store.
//
// Threads: immutable.

import CairnStore

final class CommittedChanges: ChangeSource {
    private let told: StoreChanges

    init(_ told: StoreChanges) { self.told = told }

    func changes() throws(StoreError) -> StoreChanges { told }
}
