// Applies conditions on objects that were merged into others to the survivors.                      Format 78

import CairnModel
import CairnStore

extension StoreFetch {
    /// The same fetch with its condition in two-valued logic, and with redirected object ids replaced by
    /// their survivors.
    func bound(to state: EngineState, _ identity: StoreIdentity) throws(StoreError) -> StoreFetch {
        var fetch = try inTwoValues(in: state.catalog.schema)
        guard state.redirects != nil, let predicate = fetch.predicate else { return fetch }
        fetch.predicate = predicate.replacingObjectIDs { state.redirected($0, identity) }
        return fetch
    }
}
