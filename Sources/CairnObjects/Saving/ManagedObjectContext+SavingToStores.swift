// A save to the stores of a coordinator: store by store; what a later one refuses stays changed here.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObjectContext {
    /// Saves to the stores of a coordinator, one after the other.
    func saveChanges(to coordinator: PersistentStoreCoordinator) throws {
        // The stores that were not written when others were; nil as long as none is.
        var left: [UUID]?
        var resolutions = 0
        do {
            while true {
                var request = makeRequest(resolutions)
                leaveOut(deletedElsewhere: &request, coordinator)
                guard !request.isEmpty else { return try finishEmptySave() }
                tally?.count(request)
                let outcome: CoordinatedOutcome
                do {
                    // Who reads a pinned state has the stores of that state, whatever has become of them.
                    outcome = try coordinator.write(
                        request, assigned: assignedStores,
                        known: root.generation?.snapshot == nil ? knownStores : nil)
                } catch {
                    // What is refused may be about a store that has gone since they were looked at.
                    guard left == nil, hasNoticed(coordinator) else { throw error }
                    continue
                }
                tally?.absorbed += outcome.result.absorbed.count
                if case .done = outcome.end { return finishSave(outcome.result) }
                if outcome.isPartial {
                    left = outcome.leftStores
                    // A policy must not meet objects that are saved without knowing.
                    finishSave(outcome.result) { outcome.leaves($0.objectID) }
                    undoHistory?.recording = .nothing
                }
                switch outcome.end {
                case .done: break
                case .failed(let error):
                    // A store that was removed meanwhile is closed by now, and has written nothing.
                    guard error.code == .unusable, left == nil, hasNoticed(coordinator) else {
                        throw error
                    }
                case .conflicts(let conflicts):
                    tally?.conflicts += conflicts.count
                    resolutions += 1
                    try resolve(conflicts, attempt: resolutions)
                }
            }
        } catch {
            guard let left else { throw error }
            throw StoreError(incomplete: error, left)
        }
    }

    /// Whether stores have come or gone, which is noticed now.
    private func hasNoticed(_ coordinator: PersistentStoreCoordinator) -> Bool {
        let known = knownStores
        noticeStores(coordinator)
        processChangesToSave()
        return knownStores != known
    }

    /// What somebody else has deleted is to be compared with its store, unless that cannot be written or was removed: there is
    /// nothing to write then.
    private func leaveOut(
        deletedElsewhere request: inout SaveRequest, _ coordinator: PersistentStoreCoordinator
    ) {
        if request.deleted.isEmpty { return }
        let stores = Set(coordinator.attached.lazy.filter { !$0.isReadOnly }.map(\.identifier))
        request.deleted.removeAll {
            !stores.contains($0.id.store) && registry.object(for: $0.id)?.isDisplaced == true
        }
    }
}
