// The store of an object, if one context has objects of several stores.
//
// Within a store an object is a number of 32 bits. A context of a coordinator keeps, in the upper half of the 64 that it has
// for a number, which store it is one of. Ids never show that: they name the store itself, so that they are the same with
// and without a coordinator, and whatever was added first.
//
// Numbers of stores are given in the whole process, once for each time that a coordinator first meets a store, and never
// again: a row that somebody still holds keeps its meaning.
//
// Threads: any.

import Synchronization

/// The numbers of stores in coordinators.
package enum StoreNumbers {
    /// The half of a reference that is the object's number.
    package static let mask: UInt64 = 0xFFFF_FFFF

    private static let identities = Mutex<[StoreIdentity]>([])

    /// Gives a store a number, from 1 on.
    package static func enter(_ identity: StoreIdentity) -> UInt32 {
        identities.withLock { identities in
            identities.append(identity)
            return UInt32(identities.count)
        }
    }

    /// How the store names its objects whose number is in the upper half of a reference; nil if there is none.
    @inline(never)
    package static func identity(of reference: UInt64) -> StoreIdentity? {
        let index = Int(reference >> 32) - 1
        return identities.withLock { index < $0.count ? $0[index] : nil }
    }
}
