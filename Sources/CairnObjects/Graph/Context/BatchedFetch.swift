// Fetches whose objects are faults that have the rows of many read when the first of them is touched.
//
// Threads: the context's.

import CairnModel

/// A fetch whose rows are read in batches.
protocol BatchedFetch: AnyObject {
    /// Whether all batches have been read.
    var isRead: Bool { get }

    /// Reads the batch that an object is in; false if it is in none.
    func readBatch(of id: ObjectID, in context: ManagedObjectContext) -> Bool
}

extension ManagedObjectContext {
    /// Reads the batch of an object that is touched; its row too, if it is there.
    func readBatch(of object: ManagedObject) {
        object.flags.subtract(.batched)
        let id = object.objectID
        for (index, fetch) in batchedFetches.enumerated().reversed() {
            guard fetch.readBatch(of: id, in: self) else { continue }
            if fetch.isRead { batchedFetches.remove(at: index) }
            return
        }
    }
}
