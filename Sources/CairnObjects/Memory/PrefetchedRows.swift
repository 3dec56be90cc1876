// What was read ahead: rows of objects that nobody holds yet, and members of relationships that nobody has asked for.
//
// No objects are made of it, so that nothing keeps them alive but whoever uses them. It is what was read at one moment, like
// any row of an object that has not been refreshed.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// Rows and members that were read ahead.
struct PrefetchedRows {
    /// A to-many relationship of an object.
    struct Relationship: Hashable {
        let owner: ObjectID
        let index: Int
    }

    var rows: [ObjectID: Row] = [:]
    var members: [Relationship: [ObjectID]] = [:]
}
