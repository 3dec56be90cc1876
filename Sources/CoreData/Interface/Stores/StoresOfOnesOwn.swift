// Stores of a program's own, which Core Data's users write as subclasses: not here.

import Foundation

/// Not here: a store of one's own is a `PersistentStore` of Cairn's module `CairnStore`.
@available(*, unavailable, message: "a store of one's own is a PersistentStore of CairnStore")
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    // It cannot be used.
}

/// Not here: a store of one's own is a `PersistentStore` of Cairn's module `CairnStore`.
@available(*, unavailable, message: "a store of one's own is a PersistentStore of CairnStore")
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    // It cannot be used.
}
