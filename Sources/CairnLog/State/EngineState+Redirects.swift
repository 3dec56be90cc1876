// The survivor of an object that was merged into another.                                          Format 78

import CairnModel
import CairnStore

extension EngineState {
    /// Returns the number of the survivor for the id of a deleted object; nil if the object was not merged
    /// into another one, or if the survivor no longer exists.
    ///
    /// - Complexity: O(1) per merge in the chain of survivors. No row is read.
    @inline(__always)
    func redirected(_ number: UInt32, tree: Int) -> UInt32? {
        guard let redirects, directories[tree][number].isEmpty else { return nil }
        return led(number, tree: tree, redirects)
    }

    /// Returns the id of the survivor likewise.
    func redirected(_ id: ObjectID, _ identity: StoreIdentity) -> ObjectID? {
        guard redirects != nil, !id.isTemporary, id.store == identity.identifier,
            let tree = catalog.treeIndex(id: id.hierarchy),
            let number = UInt32(exactly: id.reference),
            let target = redirected(number, tree: tree)
        else { return nil }
        return identity.id(
            UInt64(target), entity: catalog.schemaEntity(catalog.trees[tree].root))
    }

    @inline(never)
    private func led(_ number: UInt32, tree: Int, _ redirects: RedirectTable) -> UInt32? {
        let id = catalog.trees[tree].id
        var number = number
        for _ in 0...redirects.mostSteps {
            guard let next = redirects[.init(tree: id, number)]?.target, next != 0 else {
                return nil
            }
            if !directories[tree][next].isEmpty { return next }
            number = next
        }
        return nil
    }
}
