// What a fetch says of objects that were folded into others is meant of these.                       Format 78

import CairnModel
import CairnStore

extension StoreFetch {
    /// The same fetch with a condition that says in two values what it says, and of the objects that are in the place of those
    /// that it names.
    func bound(to state: EngineState, _ identity: StoreIdentity) throws(StoreError) -> StoreFetch {
        var fetch = try inTwoValues(in: state.catalog.schema)
        guard state.redirects != nil, let predicate = fetch.predicate else { return fetch }
        fetch.predicate = predicate.replacingObjectIDs { state.redirected($0, identity) }
        return fetch
    }
}
